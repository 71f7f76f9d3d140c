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
        reading.ipv4Addresses = ipv4.mapValues { $0.compactMap { Self.address($0, 24) } }
        reading.ipv6Addresses = ipv6.mapValues { $0.compactMap { Self.address($0, 64) } }
        reading.ipv4Routes = RouteTable()
        reading.ipv6Routes = RouteTable()
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
        if address.family == .ipv4 {
            self.ipv4Routes?.entries.append(entry)
        } else {
            self.ipv6Routes?.entries.append(entry)
        }
    }
}
