// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
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
    init(_ request: RetryableRequest) { self.init(request, to: request.host) }

    /// The gate of a request whose host is known.
    init(_ request: RetryableRequest, to host: String) {
        // A valid address begins with http or https.
        let isPlain = request.endpoint.utf8.dropFirst(4).first == UInt8(ascii: ":")
        self.init(host: host, requires: request.requires, isPlain: isPlain)
    }
}

/// What is known of the network.
struct PathFacts: Hashable, Sendable {
    /// Whether there is a path, or nobody can tell, which is not "offline".
    var isSatisfied: Bool
    /// Whether anybody can tell.
    var isKnown = true
    /// Why there is one, or none.
    var reason = ""
    /// Whether it costs money.
    var isExpensive = false
    /// Whether it is to be spared.
    var isConstrained = false
    /// What it leads over.
    var interfaceTypes: Set<ConnectionType> = []
    /// The hosts of ``PathRequirements/hostReachable`` that can be reached.
    ///
    /// A host that nobody has asked about yet is not among them; one of which nothing can be known is.
    var reachableHosts: Set<String> = []
    /// What probes say of the internet.
    var internet = InternetReachability.unknown
    /// What answers in the place of servers; nil for nothing.
    var portal: CaptivePortal?

    /// What a gate asks for and this path does not give; nil when it is open as far as the path is concerned.
    func lacks(_ gate: Gate) -> WaitingReason? {
        guard self.isSatisfied, self.isKnown || !gate.requires.dependsOnPath else { return .noPath(self.reason) }
        if gate.requires.unmeteredOnly, self.isExpensive || self.isConstrained { return .metered }
        if let type = gate.requires.interfaceType, !self.interfaceTypes.contains(type) {
            return .interfaceType(type.displayName)
        }
        if let host = gate.requires.hostReachable, !self.reachableHosts.contains(host) {
            return .hostUnreachable(host)
        }
        if let portal, portal.answers(gate) { return .portal }
        return nil
    }
}
