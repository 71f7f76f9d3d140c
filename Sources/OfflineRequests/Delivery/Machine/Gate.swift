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
    var requires = PathRequirements()
    /// Whether it goes over plain http, which any host on the way can answer.
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

struct PathFacts: Hashable, Sendable {
    /// What the monitor says; that it is not known is not "offline".
    var update: ConnectivityUpdate
    /// The hosts that packets would be sent to although there is no path to the internet: on a link, or this machine.
    var nearHosts: Set<String> = []

    /// Whether there is a path to the internet, or nothing can tell.
    var isSatisfied: Bool { self.update.isConnected }

    var leadsSomewhere: Bool { self.isSatisfied || !self.nearHosts.isEmpty }

    /// What a gate asks for and this path does not give; nil when it is open as far as the path is concerned.
    func lacks(_ gate: Gate) -> WaitingReason? {
        let path = self.update.path
        if !self.isSatisfied, !gate.requires.dependsOnPath, self.nearHosts.contains(gate.host) { return nil }
        guard self.isSatisfied, path != nil || !gate.requires.dependsOnPath else {
            let reason = path.map { $0.reason.message + ($0.statedBy.map { " (stated by \($0))" } ?? "") }
            return .noPath(reason ?? "the state of the network is unknown")
        }
        if gate.requires.unmeteredOnly, self.update.isExpensive || self.update.isConstrained { return .metered }
        if let type = gate.requires.interfaceType, type != self.update.connectionType {
            return .interfaceType(type.displayName)
        }
        if let path, path.hasPortal(before: gate) { return .portal }
        return nil
    }
}

extension NetworkPath {
    /// Whether a captive portal would answer what goes through a gate, in the place of a server that is asked over plain
    /// http and is beyond the routers of this host.
    func hasPortal(before gate: Gate) -> Bool {
        self.internet == .portal && gate.isPlain && !self.isNear(gate.host)
    }

    /// Whether a host is this one, or on the same link; names are not looked up for that.
    private func isNear(_ authority: String) -> Bool {
        guard let host = NetworkHost(authority: authority) else { return false }
        switch host {
        case .name(let name): return name == "localhost" || name.hasSuffix(".localhost") || name.hasSuffix(".local")
        case .address(let address, zone: _):
            let links = self.interfaces.flatMap(\.addresses)
            return address.isLoopback || address.isLinkLocal
                || links.contains { $0.length > 0 && $0.contains(address) }
        }
    }
}

extension NetworkHost {
    /// Reads the host of an address; RFC 6874 writes the zone of a link-local one with an encoded percent sign.
    init(urlHost host: String) throws(Fault) {
        if host.hasPrefix("[") {
            let address = host.dropFirst().prefix { $0 != "]" }
            try self.init(ipv6: address.replacing("%25", with: "%", maxReplacements: 1)[...])
        } else {
            try self.init(bare: host[...])
        }
    }

    /// The same of an ``Endpoint/authority``; nil when it is none.
    init?(authority: String) {
        let host = authority.hasPrefix("[") ? authority[...] : authority.prefix { $0 != ":" }
        guard let host = try? NetworkHost(urlHost: String(host)) else { return nil }
        self = host
    }
}

/// The links and addresses that connections were made from, and which of them a change of the network ends.
struct NetworkView {
    /// How long connections survive without their path when it comes back as it was: TCP sends again what was lost.
    static let grace: Duration = .seconds(5)

    /// Those of the last path there was.
    private var links: [UInt32: Set<AddressPrefix>] = [:]
    private var lostAt: MonotonicTime?

    /// Takes what the monitor says.
    ///
    /// - Returns: The addresses whose connections are certainly of no use any more, none for all connections; nil when all
    ///   may be. While there is no path they are left alone: what is on its way may still arrive.
    mutating func change(to update: ConnectivityUpdate, at now: MonotonicTime) -> Set<InternetAddress>? {
        guard let path = update.path else { return nil }
        guard update.isConnected else {
            if self.lostAt == nil { self.lostAt = now }
            return nil
        }
        let links = path.interfaces.reduce(into: [UInt32: Set<AddressPrefix>]()) { links, interface in
            if interface.reason.code == .routed { links[interface.index] = Set(interface.addresses) }
        }
        let last = self.links
        let isLong = self.lostAt.map { now - $0 > Self.grace } ?? false
        (self.links, self.lostAt) = (links, nil)
        // Before the first path there was none to lose.
        if isLong { return last.isEmpty ? nil : Set(last.values.joined().map(\.address)) }
        let lost = last.compactMap { index, addresses -> Set<AddressPrefix>? in
            let interface = path.interfaces.first { $0.index == index }
            guard let interface, [.routed, .alternative].contains(interface.reason.code) else { return addresses }
            let gone = addresses.subtracting(interface.addresses)
            return gone.isEmpty ? nil : gone
        }
        return lost.isEmpty ? nil : Set(lost.joined().map(\.address))
    }
}
