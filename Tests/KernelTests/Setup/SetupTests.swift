// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Networks as real software makes them, with their usual failures: netpath says satisfied if and only if a datagram to
/// a far address comes back.
@Suite(.needsNamespacesAndTunDevices)
struct SetupTests {
    /// Setups at the same time: most of theirs is spent waiting for datagrams that do not come.
    private static let places = 4

    @Test func verdictIsWhatDatagramsSay() async {
        // NETPATH_SETUP=tailscale runs the setups whose titles contain the text.
        let filter = ProcessInfo.processInfo.environment["NETPATH_SETUP"]?.lowercased()
        let setups = SetupTable.setups.filter { filter.map($0.title.lowercased().contains) ?? true }
        let start = ContinuousClock.now
        let outcomes = await withTaskGroup(of: SetupRun.Outcome.self) { group in
            var outcomes: [SetupRun.Outcome] = []
            for (number, setup) in setups.enumerated() {
                if number >= Self.places, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { await SetupRun.outcome(of: setup) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        for problem in outcomes.flatMap(\.wrong) { Issue.record("\(problem)") }
        for problem in outcomes.flatMap(\.untold) { print(problem) }
        print(
            """
            \(setups.count) setups with \(outcomes.map(\.steps).reduce(0, +)) steps in \(ContinuousClock.now - start): \
            \(outcomes.flatMap(\.wrong).count) wrong, and \(outcomes.flatMap(\.untold).count) wrong that no route and \
            no neighbour tells
            """
        )
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
