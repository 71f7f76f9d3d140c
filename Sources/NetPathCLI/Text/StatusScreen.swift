// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension StatusSnapshot {
    /// The status as a big word, its meaning, and why.
    var headline: (word: String, emphasis: TextStyle.Emphasis, sentence: String) {
        guard let path = self.path else { return ("UNKNOWN", .caution, "no backend has a verdict") }
        let word = path.status == .requiresConnection ? "REQUIRES CONNECTION" : path.status.rawValue.uppercased()
        return (word, path.status.emphasis, path.sentence)
    }

    /// The screen of `status`.
    func statusScreen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        screen.title(for: self)
        if let path = self.path {
            if !path.interfaces.isEmpty { screen.heading("Interfaces") }
            for interface in path.interfaces { screen.row(interface.name, interface.details) }
            screen.heading("Network")
            if let carrier = path.carriedByIndex { screen.row("Carried by", [path.name(of: carrier)]) }
            screen.row("Gateways", [path.gatewayText])
            screen.row("DNS", [path.dnsText])
            screen.row("IPv4", [path.familyText(path.supportsIPv4)])
            screen.row("IPv6", [path.familyText(path.supportsIPv6)])
            screen.row("Internet", [path.internetText])
            for probe in path.probes { screen.row("Probe", [probe.text]) }
            if path.isExpensive { screen.row("Expensive", ["traffic is likely to cost money"]) }
            if path.isConstrained { screen.row("Constrained", ["traffic should be kept low"]) }
        }
        screen.heading("Backends")
        if self.backends.isEmpty { screen.paragraph("none is configured") }
        for backend in self.backends {
            let doubts = self.path?.disagreements.filter { $0.backend == backend.name } ?? []
            screen.row(backend.name, backend.details(at: self.takenAt) + doubts.map { $0.remark(on: backend) })
        }
        return screen.text
    }
}

extension TextScreen {
    /// Adds the status as a big word, and why.
    mutating func title(for snapshot: StatusSnapshot) {
        let (word, emphasis, sentence) = snapshot.headline
        self.title(word, emphasis, sentence)
        if snapshot.path?.isStale == true {
            self.paragraph("stale: the last known path; no backend can confirm or refute it now")
        }
    }
}

extension PathInterface {
    /// The type, and the kernel's kind of a virtual interface.
    var typeText: String {
        // One backend names it, and none sees it.
        if self.index == 0, self.type == .other { return "type not known" }
        return self.kind.map { "\(self.type.rawValue) (\($0))" } ?? self.type.rawValue
    }

    /// What is known of the default route through the interface, one phrase each.
    var routeText: [String] {
        self.gateways.map { "gateway \($0)" }
            + [self.metric.map { "metric \($0)" }, self.table.flatMap { $0 == Route.mainTable ? nil : "table \($0)" }]
            .compactMap { $0 }
    }

    /// What the screen says of an interface, one line each.
    fileprivate var details: [String] {
        var properties = [self.typeText]
        if let state = self.operationalState { properties.append(state.name) }
        var lines = ["\(properties.joined(separator: ", ")): \(self.reason.message)"]
        if !self.addresses.isEmpty { lines.append(self.addresses.map(\.description).joined(separator: ", ")) }
        if !self.routeText.isEmpty { lines.append(self.routeText.joined(separator: ", ")) }
        lines += self.labels?.map(\.remark) ?? []
        return lines
    }
}

extension NetworkPath {
    /// Why the path is what it is, and whose word that is when a backend states it.
    var sentence: String { self.reason.message + (self.statedBy.map { " (stated by \($0))" } ?? "") }

    /// Whether there is a path of a family, or that this is unknown.
    func familyText(_ isSupported: Bool) -> String {
        self.knowsFamilies ? isSupported ? "yes" : "no" : "not known"
    }

    /// The name of an interface of the path.
    func name(of index: UInt32) -> String {
        self.interfaces.first { $0.index == index }?.name ?? "interface \(index)"
    }

    /// The gateways in use with the interfaces they are reached through.
    var gatewayText: String {
        self.gateways.isEmpty
            ? self.statedBy == nil ? "none" : "not known"
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

    /// What probes say of the internet, or backends that state it.
    var internetText: String {
        let results = self.probes.map(\.result)
        return switch self.internet {
        case .reachable where !results.contains { [.connected, .refused, .expected].contains($0) }:
            "reachable, as a backend states"
        case .reachable: "reachable"
        case .unreachable where results.isEmpty: "not reachable, as a backend states"
        case .unreachable: "not reachable: no probe target answered"
        case .portal: "behind a captive portal" + (self.portalURL.map { ": \($0)" } ?? "")
        case .unknown where !self.probes.isEmpty: "not known yet"
        case .unknown: self.backends.contains { $0.health == .notAsked } ? BackendReport.notAsked : "not probed"
        }
    }
}

extension ProbeOutcome {
    /// The outcome of a probe.
    var text: String {
        let result =
            switch self.result {
            case .connected: "connected"
            case .refused: "refused the connection"
            case .unreachable(let errno): "unreachable (\(SystemReason.text(errno)))"
            case .timedOut: "timed out"
            case .notResolved: "name not resolved"
            case .portal: "a captive portal answered"
            case .expected: "answered as expected"
            case .unexpected: "unexpected answer"
            case .impersonated: "the server did not prove its identity"
            }
        let time = self.roundTrip.map { " after \($0.roundTripText)" } ?? ""
        return "\(self.target): \(result)\(time)" + (self.detail.map { ": \($0)" } ?? "")
    }
}

extension Duration {
    /// A round trip in whole milliseconds, or microseconds where there is none of those.
    var roundTripText: String {
        self < .milliseconds(1) ? "\(self.inNanoseconds / 1_000) µs" : "\(self.inMilliseconds) ms"
    }
}

extension BackendReport {
    /// What the screen says of a backend, one line each.
    func details(at now: ClockReading) -> [String] {
        let age = self.health == .healthy ? self.age(at: now).map { " (\($0.spoken) ago)" } : nil
        return [self.condition + (age ?? "")] + self.remarks
    }

    /// What is said of a backend that was left out.
    static let notAsked = "not asked (use --probe)"

    /// How the backend is doing.
    var condition: String {
        switch self.health {
        case .off: "off"
        case .standby: "standing by"
        case .notAsked: Self.notAsked
        case .starting: "silent so far"
        case .unhealthy: "unhealthy: \(self.error ?? "no reason given")"
        case .healthy where self.status == nil && self.describedInterfaces != nil:
            "healthy: describes \(self.describedInterfaces?.joined(separator: ", ") ?? "nothing")"
        case .healthy:
            "healthy: \(self.speaker)\(self.status?.rawValue ?? "no verdict")"
                + (self.reason.map { ", \($0.message)" } ?? "")
        }
    }

    /// Who states the status; nothing when netpath worked it out.
    private var speaker: String { self.isStated ? "\(self.host.map { "\($0) " } ?? "")states " : "" }

    /// What else there is to say about how it is doing.
    var remarks: [String] {
        var lines = self.limitations.map { "limited: \($0)" }
        if self.restarts > 0 { lines.append("restarts: \(self.restarts)") }
        if self.resynchronizations > 0 { lines.append("resynchronizations: \(self.resynchronizations)") }
        return lines
    }
}

extension Disagreement {
    /// What it says of a backend that is told of anyway.
    fileprivate func remark(on backend: BackendReport) -> String {
        // A backend that states something else than its own evidence comes to.
        self.isStated && !backend.isStated
            ? "states otherwise: \(self.status.rawValue), \(self.reason.message)" : "disagrees with the path"
    }
}
