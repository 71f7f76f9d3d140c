// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Reachability

/// What `reach` tells.
struct HostSnapshot: Hashable, Sendable {
    /// The host and port that were asked about.
    var target: HostTarget
    /// Whether packets would be sent.
    var status: HostStatus
    /// What came of connecting; nil without `--connect`.
    var connection: ProbeOutcome?
    /// When it was so.
    @EqualityIgnored var takenAt: ClockReading

    /// The document of `reach`.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "host": .string(self.target.text),
            "port": .optional(self.target.port),
            "status": .string(self.status.name),
            "reason": .reason(self.status.reason),
            "route": self.status.route.map(JSONNode.hostRoute) ?? .null,
            "connection": self.connection.map(JSONNode.probe) ?? .null,
            "time": .string(self.takenAt.wall.rfc3339),
        ]
    }

    /// The text of `reach`.
    func screen(_ style: TextStyle) -> String {
        var screen = TextScreen(style)
        if let connection {
            // The exit status tells of the connection, and so does the headline.
            let isMade = connection.result == .connected
            screen.title(isMade ? "CONNECTED" : "NOT CONNECTED", isMade ? .good : .bad, self.sentence)
            screen.row("TCP port \(self.target.port ?? 0)", [connection.sentence])
        } else {
            screen.title(self.status.name.uppercased(), self.status.emphasis, self.sentence)
            if let port = self.target.port, self.status.isReachable {
                screen.row("Port \(port)", ["not tried: --connect makes a TCP connection"])
            }
        }
        return screen.text
    }

    /// The line of `reach --watch`.
    func line(local: (WallTime) -> CivilTime) -> String {
        let time = local(self.takenAt.wall)
        return "\(time.date) \(time.time) \(self.status.name): \(self.sentence)".safe + "\n"
    }

    /// The name of a host says more than its address.
    private var sentence: String {
        let message = self.status.reason.message
        guard case .name(let name) = self.target.host, self.status.isReachable else { return message }
        return "\(name): \(message)"
    }
}

extension HostStatus {
    fileprivate var emphasis: TextStyle.Emphasis {
        switch self {
        case .reachable, .cellular: .good
        case .unknown: .caution
        case .unreachable: .bad
        }
    }
}

extension ProbeOutcome {
    fileprivate var sentence: String {
        let time = self.roundTrip.map { " after \($0.roundTripText)" } ?? ""
        return switch self.result {
        case .connected: "made\(time)"
        case .refused: "refused\(time): the host answers, and no program listens on the port"
        case .unreachable: "there is no way to the host"
        case .timedOut: "nothing came back in time"
        case .notResolved: "the name cannot be looked up"
        case .portal, .impersonated: "another server answered"
        case .expected, .unexpected: "answered\(time)"
        }
    }
}

extension JSONNode {
    static func hostRoute(_ route: HostRoute) -> JSONNode {
        [
            "address": .string(route.address.description),
            "family": .string(route.family.rawValue),
            "interface": .optional(route.interface),
            "interfaceIndex": .integer(route.interfaceIndex),
            "interfaceType": .optional(route.interfaceType?.rawValue),
            "gateway": .optional(route.gateway?.description),
            "gatewayAnswers": .optional(route.gatewayAnswers),
            "source": .optional(route.source?.description),
            "localOnly": .bool(route.isLocalOnly),
            "tunnel": .bool(route.isTunnel),
            "vpn": .bool(route.isVPN),
            "carriedBy": .optional(route.carriedBy),
        ]
    }
}

extension ToolStatus {
    /// The answer to "can the host be reached?", or "was the connection made?" if that was asked.
    init(_ snapshot: HostSnapshot) {
        switch (snapshot.connection?.result, snapshot.status) {
        case (.connected, _): self = .satisfied
        case (.notResolved, _): self = .unavailable
        case (.some, _): self = .unsatisfied
        case (nil, .reachable), (nil, .cellular): self = .satisfied
        case (nil, .unreachable): self = .unsatisfied
        case (nil, .unknown): self = .unavailable
        }
    }
}
