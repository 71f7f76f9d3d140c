// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network

// Every declaration with its type, as Apple declares it: this compiles, or something differs.

private func monitors(_ monitor: NWPathMonitor) async {
    let _: [NWPathMonitor] = [
        NWPathMonitor(), NWPathMonitor(requiredInterfaceType: .wifi),
        NWPathMonitor(prohibitedInterfaceTypes: [.other, .loopback]), NWPathMonitor.ethernetChannel,
    ]
    let _: NWPath = monitor.currentPath
    let _: (@Sendable (NWPath) -> Void)? = monitor.pathUpdateHandler
    monitor.pathUpdateHandler = nil
    let _: DispatchQueue? = monitor.queue
    let _: (DispatchQueue) -> Void = monitor.start(queue:)
    let _: () -> Void = monitor.cancel
    let _: String = monitor.debugDescription
    var iterator: NWPathMonitor.Iterator = monitor.makeAsyncIterator()
    let _: NWPathMonitor.Element? = await iterator.next()
    let _: NWPathMonitor.AsyncIterator.Type = NWPathMonitor.Iterator.self
    // Does not throw.
    for await path in monitor where path.status == .satisfied { break }
    let _: any Sendable & CustomDebugStringConvertible = monitor
}

private func paths(_ path: NWPath) {
    let _: any Equatable & CustomDebugStringConvertible & Sendable = path
    let _: String = path.debugDescription
    let _: NWPath.UnsatisfiedReason = path.unsatisfiedReason
    let _: [NWInterface] = path.availableInterfaces
    let _: [Bool] = [
        path.isExpensive, path.isConstrained, path.isUltraConstrained, path.supportsIPv4, path.supportsIPv6,
        path.supportsDNS, path.usesInterfaceType(.wifi), path == path,
    ]
    let _: [NWEndpoint] = path.gateways
    let _: [NWEndpoint?] = [path.localEndpoint, path.remoteEndpoint]
    let _: NWInterface? = path.availableInterfaces.first { _ in true }
    let _: NWInterface.InterfaceType? = [.wifi, .cellular].first(where: path.usesInterfaceType)
    let _: any Hashable & Sendable = path.status
    switch path.status {
    case .satisfied, .unsatisfied, .requiresConnection: break
    @unknown default: break
    }
    switch path.unsatisfiedReason {
    case .notAvailable, .cellularDenied, .wifiDenied, .localNetworkDenied, .vpnInactive: break
    }
    switch path.linkQuality {
    case .unknown, .minimal, .moderate, .good: break
    }
}

private func interfaces(_ interface: NWInterface) {
    let _: any Hashable & CustomDebugStringConvertible & Sendable = interface
    let _: (String, Int, NWInterface.InterfaceType) = (interface.name, interface.index, interface.type)
    switch interface.type {
    case .other, .wifi, .cellular, .wiredEthernet, .loopback: break
    }
    let _: [NWInterface.RadioType] = [
        .wifi(.b), .wifi(.a), .wifi(.g), .wifi(.n), .wifi(.ac), .wifi(.ax), .cell(.lte),
        .cell(.dualConnectivity5G(.sub6GHz)), .cell(.standalone5G(.mmWave)), .cell(.wcdma), .cell(.gsm), .cell(.cdma),
        .cell(.evdo),
    ]
}

private func endpoints(_ endpoint: NWEndpoint, _ interface: NWInterface?) {
    let _: any Hashable & CustomDebugStringConvertible & Sendable = endpoint
    switch endpoint {
    case .hostPort(let host, let port):
        let _: any Hashable & CustomDebugStringConvertible & ExpressibleByStringLiteral & Sendable = host
        let _: UInt16 = port.rawValue
    case .service(let name, let type, let domain, let interface): let _: (Any?) = (name, type, domain, interface)
    case .unix(let path): let _: String = path
    case .url(let url): let _: URL = url
    case .opaque(let opaque): let _: nw_endpoint_t = opaque
    @unknown default: break
    }
    let _: NWInterface? = endpoint.interface
    let _: NWTXTRecord? = endpoint.txtRecord
    let _: [NWEndpoint.Host] = ["192.0.2.1", NWEndpoint.Host("::1"), .name("localhost", interface), .ipv6(.any)]
    let _: [NWEndpoint.Port?] = [
        .any, .ssh, .smtp, .http, .pop, .imap, .https, .imaps, .socks, 8080, NWEndpoint.Port("https"),
        NWEndpoint.Port(rawValue: 1), NWEndpoint.Port(integerLiteral: 2),
    ]
}

private func addresses() {
    let v4: [IPv4Address?] = [
        .any, .broadcast, .loopback, .allHostsGroup, .allRoutersGroup, .allReportsGroup, .mdnsGroup,
        IPv4Address("192.0.2.1"), IPv4Address(Data([192, 0, 2, 1])), IPv4Address(Data(), nil),
    ]
    let v6: [IPv6Address?] = [
        .any, .broadcast, .loopback, .nodeLocalNodes, .linkLocalNodes, .linkLocalRouters, IPv6Address("::1"),
        IPv6Address(Data(count: 16)), IPv6Address(Data(), nil),
    ]
    let all: [any IPAddress] = v4.compactMap { $0 } + v6.compactMap { $0 }
    for address in all {
        let _: (Data, NWInterface?) = (address.rawValue, address.interface)
        let _: [Bool] = [address.isLoopback, address.isLinkLocal, address.isMulticast]
    }
    for address in v6.compactMap({ $0 }) {
        let _: [Bool] = [
            address.isAny, address.isIPv4Compatabile, address.isIPv4Mapped, address.is6to4, address.isUniqueLocal,
        ]
        let _: IPv4Address? = address.asIPv4
        switch address.multicastScope {
        case .nodeLocal, .linkLocal, .siteLocal, .organizationLocal, .global, nil: break
        }
    }
}

/// What the compiler cannot tell.
func checkConformances(_ path: NWPath) {
    let isHashable = (path as Any) is any Hashable
    let isIterable = (NWPath.Status.satisfied as Any) is any CaseIterable
    print("nothing added:", !isHashable && !isIterable && NWInterface.InterfaceType.allCases.first == .other)
}
