// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

@testable import NetPathSysfs

extension InterfaceReading {
    /// A network card that is up and has a carrier.
    static func card(_ index: UInt32, _ name: String, change: (inout InterfaceReading) -> Void = { _ in }) -> Self {
        var nature = InterfaceNature()
        nature.hardwareType = 1
        nature.hasDevice = true
        var reading = InterfaceReading(index: index, name: name, flags: 0x1043, nature: nature)
        reading.operationalState = .up
        reading.hasCarrier = true
        reading.carrierGains = 1
        change(&reading)
        return reading
    }
}

extension NetworkReading {
    /// Cards with addresses and complete tables without routes.
    static func cards(
        _ interfaces: [InterfaceReading],
        ipv4: [UInt32: [String]] = [:],
        ipv6: [UInt32: [String]] = [:]
    )
        -> NetworkReading
    {
        var reading = NetworkReading()
        reading.interfaces = interfaces
        reading.addresses[.ipv4] = ipv4.mapValues { $0.compactMap { Self.address($0, 24) } }
        reading.addresses[.ipv6] = ipv6.mapValues { $0.compactMap { Self.address($0, 64) } }
        reading.routes[.ipv4] = RouteTable()
        reading.routes[.ipv6] = RouteTable()
        return reading
    }

    static func address(_ text: String, _ length: Int) -> InterfaceAddress? {
        InternetAddress(text).map {
            InterfaceAddress(AddressPrefix($0, length: length), scope: $0.isLinkLocal ? .link : .global)
        }
    }

    mutating func addRoute(
        _ prefix: String = "0.0.0.0",
        _ length: Int = 0,
        via gateway: String? = nil,
        metric: UInt32 = 0,
        through name: String?,
        shares: Bool = false
    ) {
        guard let address = InternetAddress(prefix) else { return }
        let entry = RouteEntry(
            destination: AddressPrefix(address, length: length),
            gateway: gateway.flatMap { InternetAddress($0) },
            metric: metric,
            interface: name,
            isRefusal: name == nil,
            sharesPackets: shares
        )
        self.routes[address.family]?.entries.append(entry)
    }
}
