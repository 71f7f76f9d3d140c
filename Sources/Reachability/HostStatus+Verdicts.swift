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

extension HostRoute {
    fileprivate init(to address: InternetAddress, _ verdict: DestinationVerdict) {
        let interface = verdict.interface
        self.address = address
        self.interfaceIndex = verdict.interfaceIndex ?? 0
        // Loopback need not be among what backends report.
        let isThisMachine = address.isLoopback || verdict.source == address
        self.interface = interface?.name
        self.interfaceType = interface?.type ?? (isThisMachine ? .loopback : nil)
        self.gateway = verdict.gateway
        self.gatewayAnswers = verdict.gatewayAnswers
        self.source = verdict.source
        self.isTunnel = interface?.isTunnel ?? false
        self.isVPN = self.isTunnel && interface?.kind.map(Self.privateKinds.contains) ?? false
        // Beyond a point-to-point link is the other end's network; on a shared one a host without gateway is a neighbour.
        let isNeighbour =
            interface.map { interface in
                interface.type == .loopback || interface.addresses.contains { $0.prefix.contains(address) }
                    || !(interface.isTunnel || interface.flags.contains(.pointToPoint))
            } ?? false
        self.isLocalOnly = isThisMachine || verdict.gateway == nil && (address.isLinkLocal || isNeighbour)
        self.underlyingIndex = verdict.carrier?.name
    }

    /// The kernel's kinds of interfaces that virtual private networks use; the rest are plain encapsulations.
    private static let privateKinds: Set<String> = ["tun", "wireguard", "xfrm", "vti", "vti6", "ovpn", "ppp", "ipsec"]
}
