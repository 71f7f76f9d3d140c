// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import Connectivity

/// What a monitor owes to whom, without threads.
@Suite struct StateTests {
    /// A state that can be changed within an expectation.
    private final class Machine {
        private var state = MonitorState()

        var latest: ConnectivityUpdate? { self.state.latest }

        func start(_ relay: PathRelay) -> Bool { self.state.start(relay) }
        func stop() -> PathRelay? { self.state.stop() }
        func setHandler() { _ = self.state.replace(.handler, by: .delivered { _ in }) }
        func addMainActorObserver() -> UInt64 { self.state.add(.onMainActor { _ in }).id }
        func mayStillCall(_ id: UInt64) -> Bool { self.state.mayStillCall(id) }
        func remove(_ id: UInt64) { _ = self.state.remove(id) }
        func receive(_ update: ConnectivityUpdate, _ number: UInt64, from relay: PathRelay) -> Bool {
            self.state.receive(update, number: number, from: relay)
        }

        /// Makes the calls that are due, and returns what the handler was told.
        func drain() -> [Bool] {
            var told: [Bool] = []
            while let call = self.state.nextCall() {
                if case .handler(_, let isConnected, _) = call { told.append(isConnected) }
            }
            return told
        }
    }

    private let machine = Machine()
    private let monitor = NetworkMonitor(monitor: ScriptedMonitor())
    private let unknown = ConnectivityUpdate(nil)
    private let offline = ConnectivityUpdate(NetworkMonitor(monitor: PreviewMonitor.offline).path)
    private let online = ConnectivityUpdate(NetworkMonitor(monitor: PreviewMonitor.online).path)

    @Test func sharedPathIsNewsAfterARestart() {
        let (first, second) = (PathRelay(self.monitor), PathRelay(self.monitor))
        #expect(self.machine.start(first))
        #expect(!self.machine.start(second))
        #expect(self.machine.receive(self.online, 5, from: first))
        #expect(self.machine.drain().isEmpty)
        #expect(self.machine.stop() === first)
        #expect(self.machine.start(second))
        #expect(self.machine.latest == nil)
        self.machine.setHandler()
        // Of the run before, and too late.
        #expect(!self.machine.receive(self.offline, 6, from: first))
        // Others kept the source running: the path is the same.
        #expect(self.machine.receive(self.online, 5, from: second))
        #expect(!self.machine.receive(self.offline, 4, from: second))
        #expect(self.machine.drain() == [true])
    }

    @Test func whatNobodyKnowsStaysWhatItWas() {
        let (first, second) = (PathRelay(self.monitor), PathRelay(self.monitor))
        self.machine.setHandler()
        #expect(self.machine.start(first))
        #expect(self.machine.receive(self.unknown, 1, from: first))
        #expect(self.machine.drain() == [true], "when nothing was ever known, programs may try")
        #expect(self.machine.receive(self.offline, 2, from: first))
        #expect(self.machine.drain() == [false])
        #expect(self.machine.stop() === first)
        // Started again, where nobody can tell any more.
        #expect(self.machine.start(second))
        #expect(self.machine.receive(self.unknown, 3, from: second))
        #expect(self.machine.latest?.isConnected == false)
        #expect(self.machine.latest?.status == .unknown)
        #expect(self.machine.drain().isEmpty)
        #expect(self.machine.receive(self.online, 4, from: second))
        #expect(self.machine.drain() == [true])
    }

    @Test func onlyOneDeliveryIsAskedFor() {
        let relay = PathRelay(self.monitor)
        #expect(self.machine.start(relay))
        self.machine.setHandler()
        #expect(self.machine.receive(self.online, 1, from: relay))
        #expect(!self.machine.receive(self.offline, 2, from: relay))
        #expect(!self.machine.receive(self.online, 3, from: relay))
        #expect(!self.machine.receive(self.offline, 4, from: relay))
        #expect(self.machine.drain() == [true, false])
        #expect(self.machine.receive(self.online, 5, from: relay))
        #expect(self.machine.stop() === relay)
        #expect(self.machine.drain().isEmpty)
        #expect(self.machine.stop() == nil)
    }

    @Test func whoWasNotCalledBecauseOfTheStopIsCalledLater() {
        let (first, second) = (PathRelay(self.monitor), PathRelay(self.monitor))
        let id = self.machine.addMainActorObserver()
        #expect(self.machine.start(first))
        #expect(self.machine.receive(self.online, 1, from: first))
        #expect(self.machine.drain() == [true])
        // On its way to the main actor, and stopped there.
        #expect(self.machine.stop() === first)
        #expect(!self.machine.mayStillCall(id))
        #expect(self.machine.start(second))
        #expect(self.machine.receive(self.online, 2, from: second))
        #expect(self.machine.drain() == [true])
        #expect(self.machine.mayStillCall(id))
        self.machine.remove(id)
        #expect(!self.machine.mayStillCall(id))
    }
}
