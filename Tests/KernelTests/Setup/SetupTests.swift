// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Networks as real software makes them, with their usual failures: netpath says satisfied if and only if a datagram to
/// a far address comes back.
@Suite(.needsNamespacesAndTunDevices)
struct SetupTests {
    @Test func verdictIsWhatDatagramsSay() async {
        // NETPATH_SETUP=tailscale runs the setups whose titles contain the text.
        let filter = ProcessInfo.processInfo.environment["NETPATH_SETUP"]?.lowercased()
        let setups = SetupTable.setups.filter { filter.map($0.title.lowercased().contains) ?? true }
        print(await SetupRun.play(setups))
    }

    @Test func titlesAreUnique() {
        #expect(Set(SetupTable.setups.map(\.title)).count == SetupTable.setups.count)
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs where namespaces and tun devices can be made, and fails rather than skips in CI.
    static var needsNamespacesAndTunDevices: Self {
        .enabled(
            if: NetworkNamespace.isRequired || (NetworkNamespace.isAvailable && TunDevice.isAvailable),
            "\(NetworkNamespace.unavailableReason ?? "/dev/net/tun cannot be opened for reading and writing")"
        )
    }
}
