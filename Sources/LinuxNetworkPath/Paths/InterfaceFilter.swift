// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Which types of interfaces a monitor may use.
enum InterfaceFilter: Hashable, Sendable {
    case everything
    case only(NWInterface.InterfaceType)
    case allBut([NWInterface.InterfaceType])

    func allows(_ type: NWInterface.InterfaceType) -> Bool {
        switch self {
        case .everything: true
        case .only(let required): type == required
        case .allBut(let prohibited): !prohibited.contains(type)
        }
    }

    /// The path as a monitor with this filter sees it, without what is no property of the network.
    ///
    /// Two such paths are equal when addresses, routes, gateways, name servers and everything that shows in public are.
    ///
    /// - Parameters:
    ///   - path: The path of the machine.
    ///   - loopback: Finds the interface that leads back to the machine, if one is up; asked only when it is required.
    /// - Returns: The path as monitors with this filter see it.
    func view(of path: NetworkPath, loopback: () -> Loopback? = Loopback.current) -> NetworkPath {
        var view = path.withoutCircumstances
        if self == .only(.loopback) {
            // No path to the internet leads through it, so the machine's path does not know it.
            view.lead(through: loopback())
            return view
        }
        view.interfaces.removeAll { !self.allows(NWInterface.InterfaceType($0.type)) || !$0.isAvailable }
        guard self != .everything else { return view }
        let carriers = view.interfaces.filter(\.carriesPath)
        if path.status == .satisfied, carriers.count == path.interfaces.count(where: \.carriesPath) { return view }
        if path.status == .satisfied, !carriers.isEmpty {
            view.narrow(to: carriers, of: path)
        } else if !view.interfaces.isEmpty {
            // The kernel would use it if the others were not there.
            view.status = .satisfied
            view.carriedByIndex = nil
            view.interfaces[0].reason = .carriesPath
            view.narrow(to: [view.interfaces[0]], of: path)
        } else {
            // What has to be done first is known of interfaces only while there is no path at all.
            let isStartable =
                path.status == .requiresConnection
                && path.interfaces.contains {
                    self.allows(NWInterface.InterfaceType($0.type)) && PathReason.Code.steps.contains($0.reason.code)
                }
            view.status = isStartable ? .requiresConnection : .unsatisfied
            view.narrow(to: [], of: path)
        }
        return view
    }
}

extension NetworkPath {
    /// The path without who said it, when, and in which words.
    fileprivate var withoutCircumstances: NetworkPath {
        var path = self
        path.isStale = false
        path.statedBy = nil
        path.knowsFamilies = true
        path.internet = .unknown
        path.portalURL = nil
        path.probes = []
        path.backends = []
        path.disagreements = []
        // A blocked radio is all that an application can be told of reasons.
        path.reason = PathReason(self.reason.code == .radioBlocked ? .radioBlocked : .routed, "")
        for index in path.gateways.indices { path.gateways[index].answers = nil }
        // Without a path no name server is asked, so that a change of which are on the link is not worth a call.
        if self.status != .satisfied, let servers = self.dnsServers {
            path.dnsServers = servers.map { DNSServer($0.address, zone: $0.zone) }
        }
        for index in path.interfaces.indices {
            path.interfaces[index].reason.message = ""
            path.interfaces[index].operationalState = nil
        }
        return path
    }

    /// Makes the path one that does not leave the machine.
    fileprivate mutating func lead(through loopback: Loopback?) {
        var carrier = loopback.map { PathInterface($0.interface, reason: .carriesPath) }
        carrier?.supportsIPv4 = loopback?.families.contains(.ipv4) ?? false
        carrier?.supportsIPv6 = loopback?.families.contains(.ipv6) ?? false
        self.status = carrier == nil ? .unsatisfied : .satisfied
        self.reason = .carriesPath
        self.interfaces = carrier.map { [$0] } ?? []
        self.carriedByIndex = nil
        self.narrow(to: self.interfaces, of: self)
    }

    /// Makes the path one that leads through these interfaces only.
    fileprivate mutating func narrow(to carriers: [PathInterface], of path: NetworkPath) {
        self.supportsIPv4 = carriers.contains(where: \.supportsIPv4)
        self.supportsIPv6 = carriers.contains(where: \.supportsIPv6)
        self.gateways = carriers.flatMap { carrier in
            carrier.gateways.map { Gateway(address: $0, interfaceIndex: carrier.index) }
        }
        // What the path says of costs it says of its first interface, or of the one under a tunnel.
        let payers = [path.interfaces.first(where: \.carriesPath)?.index, path.carriedByIndex]
        let first = carriers.first
        let isPayer = first.map { payers.contains($0.index) } ?? false
        self.isExpensive = isPayer ? path.isExpensive : first?.type == .cellular
        self.isConstrained = isPayer && path.isConstrained
    }
}

extension PathInterface {
    var carriesPath: Bool { self.reason.code == .routed }

    /// Whether the path could lead through the interface.
    fileprivate var isAvailable: Bool {
        self.carriesPath || (self.reason.code == .alternative && (self.supportsIPv4 || self.supportsIPv6))
    }
}

extension PathReason {
    fileprivate static let carriesPath = PathReason(.routed, "")
}
