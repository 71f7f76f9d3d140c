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

    @Test func aSlowConsumerGetsWhatWasBuffered() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        var latest = coordinator.paths().makeAsyncIterator()
        var every = coordinator.paths(buffering: .unbounded).makeAsyncIterator()
        #expect(self.name(await latest.next()) == "eth0", "the current path first")
        for number in 1...5 { monitor.report(.through("eth\(number)")) }
        #expect(self.name(await latest.next()) == "eth5")
        for number in 0...5 { #expect(self.name(await every.next()) == "eth\(number)") }
        coordinator.stop()
        #expect(await latest.next() == nil)
        #expect(await every.next() == nil)
    }

    @Test func changesAddUp() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        var changes = coordinator.changes().makeAsyncIterator()
        let first = try #require(await changes.next())
        #expect(first.before == nil)
        #expect(first.differences == [])
        monitor.report(.noLink)
        monitor.report(.through("eth1"))
        let second = try #require(await changes.next())
        #expect(second.before == first.after)
        #expect(second.after == coordinator.path)
        let renamed = try #require(second.after.interfaces.first)
        #expect(second.differences.contains(.interface(renamed, .name(before: "eth0"))))
        coordinator.stop()
        #expect(await changes.next() == nil)
    }

    @Test func iteratorsAreIndependent() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        let paths = coordinator.paths(buffering: .unbounded)
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
        async let first = coordinator.paths().first { _ in true }
        monitor.report(.through("eth0"))
        #expect(self.name(await first) == "eth0")
    }

    @Test func sequencesEndWhenTheCoordinatorIsGone() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        var coordinator: PathCoordinator? = try await self.running(monitor)
        weak let released = coordinator
        var iterator = coordinator?.paths(buffering: .unbounded).makeAsyncIterator()
        coordinator = nil
        #expect(released == nil, "iterators do not keep the coordinator")
        #expect(self.name(await iterator?.next()) == "eth0", "what was buffered is not lost")
        #expect(await iterator?.next() == nil)
        try await monitor.waitForEnd()
    }

    @Test func aSequenceOfAStoppedCoordinatorIsEmpty() async throws {
        let coordinator = try await self.running(ScriptedMonitor(.through("eth0")))
        coordinator.stop()
        #expect(await coordinator.paths().first { _ in true } == nil)
    }

    @Test func leavingALoopIsFine() async throws {
        let monitor = ScriptedMonitor(.through("eth0"))
        let coordinator = try await self.running(monitor)
        for round in 1...3 {
            for await path in coordinator.paths() {
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
            for await path in coordinator.paths(buffering: .unbounded) { counted.record(path) }
        }
        try await counted.waitForPaths(1)
        loop.cancel()
        await loop.value
    }
}
