// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath

/// What a request must pass: where it goes, and what it needs of the network.
///
/// Requests with the same gate wait for the same things, so that a hundred thousand of them are one question.
struct Gate: Hashable, Codable, Sendable {
    /// The host, as ``RetryableRequest/host`` says it.
    var host: String
    /// What it needs besides a path.
    var requires = PathRequirements()
    /// Whether it goes over plain http, which anybody on the way can answer.
    var isPlain = false
}

extension Gate {
    /// The gate of a request, whose host may be known.
    init(_ request: RetryableRequest, to host: String? = nil) {
        // A valid address begins with http or https.
        let isPlain = request.endpoint.utf8.dropFirst(4).first == UInt8(ascii: ":")
        self.init(host: host ?? request.host, requires: request.requires, isPlain: isPlain)
    }

    /// What all requests with this gate have in their column: scheme and host, and what else it needs as JSON.
    var text: String {
        let place = "\(self.isPlain ? "http" : "https") \(self.host)"
        guard self.requires != PathRequirements() else { return place }
        return "\(place) \((try? JSON.text(of: self.requires, .sortedKeys)) ?? "")"
    }

    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2 else { return nil }
        self.init(host: String(parts[1]), isPlain: parts[0] == "http")
        guard parts.count == 3 else { return }
        guard let requires = try? JSONDecoder().decode(PathRequirements.self, from: Data(parts[2].utf8)) else {
            return nil
        }
        self.requires = requires
    }
}

/// What is known of the network.
struct PathFacts: Hashable, Sendable {
    /// What the monitor says; that nobody can tell is not "offline".
    var update: ConnectivityUpdate
    /// The hosts that packets would be sent to although there is no path to the internet: on a link, or this machine.
    var nearHosts: Set<String> = []

    /// Whether there is a path to the internet, or nothing can tell.
    var isSatisfied: Bool { self.update.isConnected }

    /// Whether there is a way to any host at all.
    var leadsSomewhere: Bool { self.isSatisfied || !self.nearHosts.isEmpty }

    /// What a gate asks for and this path does not give; nil when it is open as far as the path is concerned.
    func lacks(_ gate: Gate) -> WaitingReason? {
        let path = self.update.path
        if !self.isSatisfied, !gate.requires.dependsOnPath, self.nearHosts.contains(gate.host) { return nil }
        guard self.isSatisfied, path != nil || !gate.requires.dependsOnPath else {
            let reason = path.map { $0.reason.message + ($0.statedBy.map { " (stated by \($0))" } ?? "") }
            return .noPath(reason ?? "nobody can tell how the network is")
        }
        if gate.requires.unmeteredOnly, self.update.isExpensive || self.update.isConstrained { return .metered }
        if let type = gate.requires.interfaceType, type != self.update.connectionType {
            return .interfaceType(type.displayName)
        }
        if let path, path.hasPortal(before: gate) { return .portal }
        return nil
    }
}
