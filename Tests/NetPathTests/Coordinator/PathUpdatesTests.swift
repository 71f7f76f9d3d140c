// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

/// The asynchronous sequences.
@Suite(.timeLimit(.minutes(5))) struct PathUpdatesTests {
    private func running(_ monitor: ScriptedMonitor) async throws -> PathCoordinator {
        let coordinator = PathCoordinator(monitor)
        coordinator.start()
        try await monitor.waitForRun()
        return coordinator
    }

    private func name(_ path: NetworkPath?) -> String? { path?.interfaces.first?.name }

    @Test func latestPathsSkipsWhatEveryPathKeeps() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        var latest = coordinator.latestPaths.makeAsyncIterator()
        var every = coordinator.everyPath.makeAsyncIterator()
        #expect(self.name(await latest.next()) == "eth0", "the current path first")
        for number in 1...5 { monitor.report(.through("eth\(number)")) }
        #expect(self.name(await latest.next()) == "eth5")
        for number in 0...5 { #expect(self.name(await every.next()) == "eth\(number)") }
        coordinator.stop()
        #expect(await latest.next() == nil)
        #expect(await every.next() == nil)
    }

    @Test func iteratorsAreIndependent() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        let paths = coordinator.everyPath
        var first = paths.makeAsyncIterator()
        monitor.report(.through("eth1"))
        var second = paths.makeAsyncIterator()
        monitor.report(.through("eth2"))
        for name in ["eth0", "eth1", "eth2"] { #expect(self.name(await first.next()) == name) }
        for name in ["eth1", "eth2"] { #expect(self.name(await second.next()) == name) }
    }

    @Test func aSequenceWaitsForTheFirstPath() async throws {
        let monitor = ScriptedMonitor()
        let coordinator = try await self.running(monitor)
        async let first = coordinator.latestPaths.first { _ in true }
        monitor.report(.through("eth0"))
        #expect(self.name(await first) == "eth0")
    }

    @Test func sequencesEndWhenTheCoordinatorIsGone() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        var coordinator: PathCoordinator? = try await self.running(monitor)
        weak let released = coordinator
        var iterator = coordinator?.everyPath.makeAsyncIterator()
        coordinator = nil
        #expect(released == nil, "iterators do not keep the coordinator")
        #expect(self.name(await iterator?.next()) == "eth0", "what was buffered is not lost")
        #expect(await iterator?.next() == nil)
        try await monitor.waitForEnd()
    }

    @Test func aSequenceOfAStoppedCoordinatorIsEmpty() async throws {
        let coordinator = try await self.running(ScriptedMonitor(.through("eth0")))
        coordinator.stop()
        #expect(await coordinator.latestPaths.first { _ in true } == nil)
    }

    @Test func leavingALoopIsFine() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        for round in 1...3 {
            for await path in coordinator.latestPaths {
                #expect(path.sequence == UInt64(round))
                break
            }
            monitor.report(.through("eth\(round)"))
        }
    }

    @Test func cancellationEndsALoop() async throws {
        let coordinator = try await self.running(ScriptedMonitor(.through("eth0")))
        let counted = PathRecorder()
        let loop = Task {
            for await path in coordinator.everyPath { counted.record(path) }
        }
        try await counted.waitForPaths(1)
        loop.cancel()
        await loop.value
    }
}
