// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension PathSnapshot {
    /// The screen of `status`.
    func statusScreen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        screen.title(for: self)
        if let path = self.path {
            if !path.interfaces.isEmpty { screen.heading("Interfaces") }
            for interface in path.interfaces { screen.row(interface.name, interface.details) }
            screen.heading("Network")
            if let carrier = path.carriedBy { screen.row("Carried by", [path.name(of: carrier)]) }
            screen.row("Gateways", [path.gatewayText])
            screen.row("DNS", [path.dnsText])
            screen.row("IPv4", [path.supportsIPv4 ? "yes" : "no"])
            screen.row("IPv6", [path.supportsIPv6 ? "yes" : "no"])
            screen.row("Internet", [path.internetText])
            for probe in path.probes { screen.row("Probe", [probe.text]) }
            if path.isExpensive { screen.row("Expensive", ["traffic is likely to cost money"]) }
            if path.isConstrained { screen.row("Constrained", ["traffic should be kept low"]) }
        }
        screen.heading("Backends")
        if self.backends.isEmpty { screen.paragraph("none is configured") }
        for backend in self.backends {
            let doubt = self.path?.disagreements.contains { $0.backend == backend.name } == true
            screen.row(backend.name, backend.details(at: self.takenAt) + (doubt ? ["disagrees with the path"] : []))
        }
        return screen.text
    }
}

extension TextScreen {
    /// Adds the status as a big word, and why.
    mutating func title(for snapshot: PathSnapshot) {
        guard let path = snapshot.path else {
            self.title("UNKNOWN", .caution, "no backend has an opinion")
            return
        }
        let word = path.status == .requiresConnection ? "REQUIRES CONNECTION" : path.status.rawValue.uppercased()
        self.title(word, path.status.emphasis, path.reason.message)
        if path.isStale { self.paragraph("stale: the last known path; no healthy backend has an opinion now") }
    }
}

extension PathInterface {
    /// What the screen says of an interface, one line each.
    fileprivate var details: [String] {
        var properties = [self.kind.map { "\(self.type.rawValue) (\($0))" } ?? self.type.rawValue]
        if let state = self.operationalState { properties.append(state.name) }
        var lines = ["\(properties.joined(separator: ", ")): \(self.reason.message)"]
        if !self.addresses.isEmpty { lines.append(self.addresses.map(\.description).joined(separator: ", ")) }
        var route = self.gateways.map { "gateway \($0)" }
        if let metric = self.metric { route.append("metric \(metric)") }
        if let table = self.table { route.append("table \(table)") }
        if !route.isEmpty { lines.append(route.joined(separator: ", ")) }
        return lines
    }
}

extension NetworkPath {
    /// The name of an interface of the path.
    func name(of index: UInt32) -> String {
        self.interfaces.first { $0.index == index }?.name ?? "interface \(index)"
    }

    /// The gateways in use with the interfaces they are reached through.
    var gatewayText: String {
        self.gateways.isEmpty
            ? "none"
            : self.gateways.map { "\($0.address) on \(self.name(of: $0.interfaceIndex))" }.joined(separator: ", ")
    }

    /// The name servers.
    var dnsText: String {
        guard let servers = self.dnsServers else { return "not known" }
        return servers.isEmpty ? "no name server" : servers.map(\.description).joined(separator: ", ")
    }

    /// What probes say of the internet.
    var internetText: String {
        switch self.internet {
        case .reachable: "reachable"
        case .unreachable: "not reachable: no probe target answered"
        case .portal: "behind a captive portal"
        case .unknown: self.probes.isEmpty ? "not probed" : "not known yet"
        }
    }
}

extension ProbeOutcome {
    /// The outcome of a probe.
    var text: String {
        var text = "\(self.target): \(self.result.name)"
        if case .unreachable(let errno) = self.result { text += " (errno \(errno))" }
        if let roundTrip = self.roundTrip { text += ", \(roundTrip.inNanoseconds / 1_000_000) ms" }
        return text
    }
}

extension BackendReport {
    /// What the screen says of a backend, one line each.
    func details(at now: ClockReading) -> [String] {
        var lines: [String] = []
        switch self.health {
        case .off: lines.append("off")
        case .starting: lines.append("silent so far")
        case .unhealthy: lines.append("unhealthy: \(self.error ?? "no reason given")")
        case .healthy:
            let opinion = self.status.map { status in
                [status.rawValue, self.reason?.message].compactMap { $0 }.joined(separator: ", ")
            }
            let age = self.age(at: now).map { " (\($0.age) ago)" } ?? ""
            lines.append("healthy: \(opinion ?? "no opinion")\(age)")
        }
        lines += self.limitations.map { "done without: \($0)" }
        if self.restarts > 0 { lines.append("restarts: \(self.restarts)") }
        if self.resynchronizations > 0 { lines.append("resynchronizations: \(self.resynchronizations)") }
        return lines
    }
}

extension Duration {
    /// The duration for people, coarser the longer it is.
    fileprivate var age: String {
        let milliseconds = self.inNanoseconds / 1_000_000
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        if seconds < 120 { return "\(seconds) s" }
        return seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }
}
