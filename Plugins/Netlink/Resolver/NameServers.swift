// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The name servers, and what the kernel would do with questions to them.
struct NameServers {
    /// The servers in order; nil when they are not known.
    let servers: [DNSServer]?
    /// The kernel's answers in the same order.
    private(set) var routes: [RouteLookupResult]
    /// Which servers the kernel is asked about, in the order of the questions.
    private var asked: [Int] = []

    init(_ servers: [DNSServer]? = nil) {
        self.servers = servers
        self.routes = [RouteLookupResult](repeating: .noRoute, count: servers?.count ?? 0)
    }

    /// Where events about routes matter.
    var addresses: [InternetAddress] { (self.servers ?? []).map(\.address) }

    /// The kernel's answers with the servers they are about.
    var answers: [ReferenceRoute] {
        zip(self.servers ?? [], self.routes).map { ReferenceRoute(to: $0.address, $1) }
    }

    /// Whether the questions depend on which interfaces there are.
    var needsZones: Bool { self.servers?.contains(where: Self.needsZone) == true }

    private static func needsZone(_ server: DNSServer) -> Bool {
        server.zone != nil || (server.address.family == .ipv6 && server.address.isLinkLocal)
    }

    /// The packets to ask the kernel about: a question as the system's resolver sends it.
    ///
    /// - Parameters:
    ///   - packet: A packet of a program here.
    ///   - interface: Finds the interface that a zone names.
    /// - Returns: A packet for each server that can be asked about.
    mutating func flows(_ packet: Flow, interface: (String) -> UInt32?) -> [Flow] {
        self.asked = []
        var flows: [Flow] = []
        for (position, server) in (self.servers ?? []).enumerated() {
            var flow = packet.with(\.destination, server.address)
            // A kernel that does not know of ports is not asked about any.
            if flow.transport != nil { flow.transport = .udp(to: 53) }
            if Self.needsZone(server) {
                // Without its interface the system refuses to send to a link-local address (EINVAL).
                guard let index = server.zone.flatMap(interface) else {
                    self.routes[position] = .noRoute
                    continue
                }
                flow.interface = index
            }
            self.asked.append(position)
            flows.append(flow)
        }
        return flows
    }

    /// Takes the answer to one of the questions.
    mutating func setRoute(_ route: RouteLookupResult, at position: Int) {
        self.routes[self.asked[position]] = route
    }
}

extension NetlinkSession {
    /// Reads the files again; the kernel is asked about other servers than before with everything else.
    ///
    /// Those known before stay while the system grants no descriptor to read them.
    func readNameServers() {
        let servers = self.resolverFile.servers()
        self.readServersAgainAt = self.resolverFile.lacksResources ? self.context.clock.now() + .seconds(1) : nil
        guard self.readServersAgainAt == nil, servers != self.nameServers.servers else { return }
        self.nameServers = NameServers(servers)
        self.setQuestionsAboutNameServers()
        self.attachFilter()
        self.stale.insertDecisions()
    }

    /// Makes the questions anew where they depend on which interfaces there are.
    func findZones() {
        if self.nameServers.needsZones { self.setQuestionsAboutNameServers() }
    }

    private func setQuestionsAboutNameServers() {
        let flows = self.nameServers.flows(self.lookup.packet, interface: AddressZone.interface)
        self.questions.removeSubrange(self.referenceRoutes.count...)
        self.questions += flows.map { RouteLookup.Question($0) }
    }
}
