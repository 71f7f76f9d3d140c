// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension PathSnapshot {
    /// The status as a big word, its meaning, and why.
    var headline: (word: String, emphasis: TextStyle.Emphasis, sentence: String) {
        guard let path = self.path else { return ("UNKNOWN", .caution, "no backend has an opinion") }
        let word = path.status == .requiresConnection ? "REQUIRES CONNECTION" : path.status.rawValue.uppercased()
        return (word, path.status.emphasis, path.reason.message)
    }

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
        let (word, emphasis, sentence) = snapshot.headline
        self.title(word, emphasis, sentence)
        if snapshot.path?.isStale == true {
            self.paragraph("stale: the last known path; no backend can confirm or refute it now")
        }
    }
}

extension PathInterface {
    /// The type, and the kernel's kind of a virtual interface.
    var typeText: String { self.kind.map { "\(self.type.rawValue) (\($0))" } ?? self.type.rawValue }

    /// What is known of the default route through the interface, one phrase each.
    var routeText: [String] {
        self.gateways.map { "gateway \($0)" }
            + [self.metric.map { "metric \($0)" }, self.table.map { "table \($0)" }].compactMap { $0 }
    }

    /// What the screen says of an interface, one line each.
    fileprivate var details: [String] {
        var properties = [self.typeText]
        if let state = self.operationalState { properties.append(state.name) }
        var lines = ["\(properties.joined(separator: ", ")): \(self.reason.message)"]
        if !self.addresses.isEmpty { lines.append(self.addresses.map(\.description).joined(separator: ", ")) }
        if !self.routeText.isEmpty { lines.append(self.routeText.joined(separator: ", ")) }
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
            : self.gateways.map { gateway in
                let silence = gateway.answers == false ? " (does not answer)" : ""
                return "\(gateway.address) on \(self.name(of: gateway.interfaceIndex))\(silence)"
            }.joined(separator: ", ")
    }

    /// The name servers.
    var dnsText: String {
        guard let servers = self.dnsServers else { return "not known" }
        return servers.isEmpty ? "no name server" : servers.map(\.remark).joined(separator: ", ")
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
        let result =
            switch self.result {
            case .connected: "connected"
            case .refused: "refused"
            case .unreachable(let errno): "unreachable (\(SystemError.message(of: errno)))"
            case .timedOut: "timed out"
            case .notResolved: "name not resolved"
            case .portal: "a captive portal answered"
            }
        return "\(self.target): \(result)" + (self.roundTrip.map { " after \($0.roundTripText)" } ?? "")
    }
}

extension Duration {
    /// A round trip in whole milliseconds, or microseconds where there is none of those.
    var roundTripText: String {
        self < .milliseconds(1)
            ? "\(self.inNanoseconds / 1_000) µs" : "\(self.inNanoseconds / 1_000_000) ms"
    }
}

extension BackendReport {
    /// What the screen says of a backend, one line each.
    func details(at now: ClockReading) -> [String] {
        let age = self.health == .healthy ? self.age(at: now).map { " (\($0.age) ago)" } : nil
        return [self.condition + (age ?? "")] + self.remarks
    }

    /// How the backend is doing.
    var condition: String {
        switch self.health {
        case .off: "off"
        case .standby: "standing by"
        case .starting: "silent so far"
        case .unhealthy: "unhealthy: \(self.error ?? "no reason given")"
        case .healthy:
            "healthy: " + (self.status?.rawValue ?? "no opinion") + (self.reason.map { ", \($0.message)" } ?? "")
        }
    }

    /// What else there is to say about how it is doing.
    var remarks: [String] {
        var lines = self.limitations.map { "done without: \($0)" }
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
