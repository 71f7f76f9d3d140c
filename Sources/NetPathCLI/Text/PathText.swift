// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathExplanation
import NetPathSystem

// What the screen of `status`, the live view, the log and the comparison say in the same words.

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
        let time = self.roundTrip.map { " after \($0.roundTripText)" } ?? ""
        return self.phrase(after: time, describingErrors: SystemReason.text)
    }
}

extension Duration {
    /// A round trip in whole milliseconds, or microseconds where there is none of those.
    var roundTripText: String {
        self < .milliseconds(1) ? "\(self.inNanoseconds / 1_000) µs" : "\(self.inMilliseconds) ms"
    }
}

extension BackendReport {
    /// What is said of a backend, one line each.
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
