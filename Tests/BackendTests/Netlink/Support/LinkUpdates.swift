// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

@testable import NetPathNetlink

extension LinkUpdate {
    /// A full message about an Ethernet-like interface that is up and has a carrier.
    static func full(
        _ index: UInt32,
        _ name: String,
        kind: String? = nil,
        flags: InterfaceFlags = .up,
        hasCarrier: Bool? = true,
        _ change: (inout Details) -> Void = { _ in }
    ) -> LinkUpdate {
        var details = Details(
            name: name,
            operationalState: hasCarrier == true ? .up : .down,
            hasCarrier: hasCarrier,
            kind: kind,
            hasParentDevice: false,
            sawRouterAdvertisement: false
        )
        change(&details)
        return LinkUpdate(index: index, flags: flags, hardwareType: 1, details: details)
    }

    /// A message that carries flags only.
    static func partial(_ index: UInt32, flags: InterfaceFlags) -> LinkUpdate {
        LinkUpdate(index: index, flags: flags, hardwareType: 1, details: nil)
    }
}

extension AddressUpdate {
    /// An address; link-local ones have the scope of the link.
    static func on(
        _ index: UInt32,
        _ text: String,
        peer: String? = nil,
        state: AddressState = [],
        isDynamic: Bool = false,
        createdAt seconds: Int64 = 0
    ) -> AddressUpdate {
        let prefix = AddressPrefix.fixture(text)
        let address = InterfaceAddress(prefix, scope: prefix.address.isLinkLocal ? .link : .global, state: state)
        return AddressUpdate(
            interfaceIndex: index,
            address: address,
            peer: peer.map { .fixture($0) },
            isDynamic: isDynamic,
            createdAt: .second(seconds)
        )
    }
}

extension MonotonicTime {
    static func second(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
}

extension LinkTable {
    /// Applies an event at a second.
    mutating func event(_ update: LinkUpdate, at seconds: Int64 = 100) { self.apply(update, now: .second(seconds)) }

    /// The interface as it would be reported, whatever its rank.
    func reported(_ index: UInt32) -> NetworkInterface? {
        self.reportable(including: [index]).first { $0.index == index }
    }
}

extension InterfaceHints {
    /// Hints of a piece of hardware.
    static let hardware = InterfaceHints(hasDevice: true)
}
