// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension HostStatus {
    /// The status of a host from the verdicts on its addresses: one that is reached suffices.
    ///
    /// - Parameter verdicts: A verdict for each address, in the order in which they would be tried; at least one.
    init(_ verdicts: [(InternetAddress, DestinationVerdict?)]) {
        for case (let address, let verdict?) in verdicts where verdict.isRouted {
            let route = HostRoute(to: address, verdict)
            let type = verdict.carrier?.type ?? verdict.interface?.type
            self = type == .cellular ? .cellular(route) : .reachable(route)
            return
        }
        // "No" needs evidence about every address.
        let reasons = verdicts.compactMap { $0.1?.reason }
        if let reason = reasons.first, reasons.count == verdicts.count {
            self = .unreachable(reason)
        } else {
            self = .unknown(PathReason(.notAnswered, "no backend can tell where packets to the host would go"))
        }
    }
}

extension HostStatus {
    /// The status of the network as a whole, from its path; nil when no backend has a verdict.
    init(of path: NetworkPath?, _ address: InternetAddress) {
        guard let path, !path.isStale else {
            self = .unknown(PathReason(.notAnswered, "no backend can tell whether there is a path"))
            return
        }
        guard path.status == .satisfied else {
            self = .unreachable(path.reason)
            return
        }
        let interface = path.interfaces.first { $0.reason.code == .routed }
        let carrier = path.carriedByIndex.flatMap { index in path.interfaces.first { $0.index == index } }
        let gateway = path.gateways.first { $0.interfaceIndex == interface?.index }
        var route = HostRoute(to: address, interfaceIndex: interface?.index ?? 0)
        route.interface = interface?.name
        route.interfaceType = interface?.type
        route.gateway = gateway?.address
        route.gatewayAnswers = gateway?.answers
        route.setTunnel(interface?.type == .other && interface?.kind != nil, kind: interface?.kind)
        route.carriedBy = carrier?.name
        self = (carrier ?? interface)?.type == .cellular ? .cellular(route) : .reachable(route)
    }
}

extension HostRoute {
    fileprivate init(to address: InternetAddress, _ verdict: DestinationVerdict) {
        let interface = verdict.interface
        self.init(to: address, interfaceIndex: verdict.interfaceIndex ?? 0)
        // Loopback need not be among what backends report.
        let isThisMachine = address.isLoopback || verdict.source == address
        self.interface = interface?.name
        self.interfaceType = interface?.type ?? (isThisMachine ? .loopback : nil)
        self.gateway = verdict.gateway
        self.gatewayAnswers = verdict.gatewayAnswers
        self.source = verdict.source
        self.setTunnel(interface?.isTunnel ?? false, kind: interface?.kind)
        // Beyond a point-to-point link is the other end's network; on a shared one a host without gateway is a neighbour.
        let isNeighbour =
            interface.map { interface in
                interface.type == .loopback || interface.addresses.contains { $0.prefix.contains(address) }
                    || !(interface.isTunnel || interface.flags.contains(.pointToPoint))
            } ?? false
        self.isLocalOnly = isThisMachine || verdict.gateway == nil && (address.isLinkLocal || isNeighbour)
        self.carriedBy = verdict.carrier?.name
        self.isDoubtful = verdict.isDoubtful
    }

    fileprivate mutating func setTunnel(_ isTunnel: Bool, kind: String?) {
        self.isTunnel = isTunnel
        self.isVPN = isTunnel && kind.map(Self.privateKinds.contains) ?? false
    }

    /// The kernel's kinds of interfaces that virtual private networks use; the rest are plain encapsulations.
    private static let privateKinds: Set<String> = ["tun", "wireguard", "xfrm", "vti", "vti6", "ovpn", "ppp", "ipsec"]
}
