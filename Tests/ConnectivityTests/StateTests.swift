// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import Connectivity

/// What a monitor owes to whom, without threads.
@Suite struct StateTests {
    private let monitor = NetworkMonitor(monitor: ScriptedMonitor())
    private let offline = ConnectivityUpdate(nil)
    private let online = ConnectivityUpdate(NetworkMonitor(monitor: PreviewMonitor.online).path)

    /// Makes the calls that are due, and returns what handlers were told.
    private func drain(_ state: inout MonitorState) -> [Bool] {
        var told: [Bool] = []
        while let call = state.nextCall() {
            if case .handler(_, let isConnected) = call { told.append(isConnected) }
        }
        return told
    }

    @Test func sharedPathIsNewsAfterARestart() {
        var state = MonitorState()
        let first = PathRelay(self.monitor)
        #expect(state.start(first))
        #expect(!state.start(PathRelay(self.monitor)))
        #expect(state.receive(self.online, number: 5, from: first))
        #expect(self.drain(&state).isEmpty)
        #expect(state.stop() === first)
        let second = PathRelay(self.monitor)
        #expect(state.start(second))
        #expect(state.latest == nil)
        _ = state.add { _ in }
        // Of the run before, and too late.
        #expect(!state.receive(self.offline, number: 6, from: first))
        // Others kept the source running: the path is the same.
        #expect(state.receive(self.online, number: 5, from: second))
        #expect(!state.receive(self.offline, number: 4, from: second))
        #expect(self.drain(&state) == [true])
    }

    @Test func onlyOneDeliveryIsAskedFor() {
        var state = MonitorState()
        let relay = PathRelay(self.monitor)
        _ = state.start(relay)
        _ = state.replaceHandler { _ in }
        #expect(state.receive(self.online, number: 1, from: relay))
        #expect(!state.receive(self.offline, number: 2, from: relay))
        #expect(!state.receive(self.online, number: 3, from: relay))
        #expect(!state.receive(self.offline, number: 4, from: relay))
        #expect(self.drain(&state) == [true, false])
        #expect(state.receive(self.online, number: 5, from: relay))
        #expect(state.stop() === relay)
        #expect(self.drain(&state).isEmpty)
        #expect(state.stop() == nil)
    }
}
