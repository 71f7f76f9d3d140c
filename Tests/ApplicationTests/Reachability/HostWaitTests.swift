// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import Reachability

/// Hosts that are waited for: names that take their time, networks that are not there, handlers on the main actor.
@Suite(.timeLimit(.minutes(5))) struct HostWaitTests {
    private let monitor: ScriptedMonitor
    private let coordinator: PathCoordinator
    private let routes = ScriptedResolver()
    private let names = Names()
    private let clock = ManualClock()
    private let wan = NetworkInterface.wired("wan0", 2).with("192.0.2.2/24")

    init() async throws {
        self.monitor = ScriptedMonitor(.online(self.wan, gateway: "192.0.2.1"))
        self.coordinator = PathCoordinator(backends: [Backend("scripted", monitor: self.monitor)], clock: self.clock)
        self.coordinator.start()
        try await self.monitor.waitForRun()
        self.monitor.context?.register(self.routes)
        self.routes.answer("203.0.113.9", with: .through(self.wan, gateway: "192.0.2.1", source: .from("192.0.2.2")))
    }

    private func host(_ text: String, names: NameService? = nil) throws -> HostReachability {
        HostReachability(
            try HostTarget(text).host,
            lease: nil,
            on: self.coordinator,
            names: names ?? self.names.service
        )
    }

    /// A resolver that answers when it is let.
    private func slowNames() -> (service: NameService, answer: @Sendable () -> Void) {
        let gate = Gate()
        let service = NameService { _ in
            gate.wait()
            return .addresses([.fixture("203.0.113.9")])
        }
        return (service, { gate.open() })
    }

    private func goOffline() { self.monitor.report(.seeing(.loopback(), self.wan.withoutCarrier())) }

    @Test func aStatusWaitsForTheName() async throws {
        let (service, answer) = self.slowNames()
        let host = try self.host("example.net", names: service)
        #expect(host.reach().isPending)
        #expect("\(host.reach())" == "unknown: example.net is being looked up")
        async let status = host.status()
        var statuses = host.statuses.makeAsyncIterator()
        #expect(await statuses.next()?.isPending == true)
        answer()
        #expect(await status.isReachable)
        #expect(await statuses.next()?.isReachable == true)
        #expect("\(await host.status())" == "reachable: 203.0.113.9 through wan0 via 192.0.2.1")
    }

    @Test func aStatusOfANameThatNeverResolves() async throws {
        let (service, answer) = self.slowNames()
        let host = try self.host("example.net", names: service)
        async let status = host.status()
        try await self.clock.waitForSleeper()
        self.clock.advance(by: HostResolution.patience)
        #expect(await status.reason.code == .notResolved)
        answer()
        try await host.wait()
    }

    @Test func cancellingEndsAStatus() async throws {
        let (service, answer) = self.slowNames()
        let host = try self.host("example.net", names: service)
        let task = Task { await host.status() }
        task.cancel()
        #expect(await task.value.isPending)
        async let status = host.status()
        async let wait = #expect(throws: WaitError.stopped) { try await host.wait() }
        var statuses = host.statuses.makeAsyncIterator()
        _ = await statuses.next()
        host.cancel()
        #expect(await status.isPending)
        _ = await wait
        // An answer that comes after the end changes nothing.
        answer()
        #expect(await statuses.next() == nil)
    }

    @Test func timeIsOver() async throws {
        self.goOffline()
        let host = try self.host("203.0.113.9")
        async let error = #expect(throws: WaitError.self) { try await host.wait(timeout: .seconds(3)) }
        try await self.clock.waitForSleeper()
        self.clock.advance(by: .seconds(3))
        #expect(await error?.isTimeout == true)
        let waiting = Task { try await host.wait() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func withoutANetworkANameIsAsFarAsAnAddress() async throws {
        self.goOffline()
        let host = try self.host("example.net")
        let status = await host.status()
        #expect(status.name == "unreachable")
        #expect(status.reason == self.coordinator.path?.reason)
        // What the file of hosts knows is judged by its addresses.
        self.names.set("this-machine", "192.0.2.2")
        self.routes.answer("192.0.2.2", with: .through(.loopback(), source: .from("192.0.2.2")))
        #expect(await (try self.host("this-machine")).status().isReachable)
        self.names.set("example.net", "203.0.113.9")
        self.clock.advance(by: .seconds(60))
        self.monitor.report(.online(self.wan, gateway: "192.0.2.1"))
        try await host.wait()
    }

    /// What was said of the name without a network says nothing once there is one.
    @Test func aStatusOnAnotherNetworkAsksAnew() async throws {
        self.goOffline()
        let host = try self.host("example.net")
        #expect(await host.status().name == "unreachable")
        self.names.set("example.net", "203.0.113.9")
        self.clock.advance(by: .seconds(60))
        self.monitor.report(.online(self.wan, gateway: "192.0.2.1"))
        #expect(await host.status().isReachable)
    }

    /// Nothing can be said before the first path of a coordinator that has just been started.
    @Test(arguments: ["203.0.113.9", "example.net", "0.0.0.0"])
    func aStatusOfACoordinatorThatHasJustStarted(text: String) async throws {
        let monitor = ScriptedMonitor()
        let coordinator = PathCoordinator(backends: [Backend("late", monitor: monitor)], clock: self.clock)
        self.names.set("example.net", "203.0.113.9")
        let host = HostReachability(try HostTarget(text).host, lease: nil, on: coordinator, names: self.names.service)
        coordinator.start()
        async let status = host.status()
        try await monitor.waitForRun()
        monitor.context?.register(self.routes)
        monitor.report(.online(self.wan, gateway: "192.0.2.1"))
        #expect(await status.isReachable)
    }

    @Test func aCancelledTaskWaitsForNothing() async throws {
        let host = try self.host("203.0.113.9")
        let waiting = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await host.wait()
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test(arguments: ["0.0.0.0", "::"]) func theZeroAddressIsAnyNetwork(text: String) async throws {
        let host = try self.host(text)
        var statuses = host.statuses.makeAsyncIterator()
        #expect("\(await statuses.next().map { "\($0)" } ?? "")" == "reachable: any network through wan0 via 192.0.2.1")
        self.goOffline()
        #expect(await statuses.next()?.reason == self.coordinator.path?.reason)
        #expect(host.reach().name == "unreachable")
        let modem = NetworkInterface.cellular("wwan0", 3).with("198.51.100.2/24")
        self.monitor.report(.online(modem, gateway: "198.51.100.1"))
        #expect(await statuses.next()?.name == "cellular")
        #expect(HostReachability(address: .fixture(text), on: PathCoordinator(backends: [])).reach().name == "unknown")
    }

    @Test @MainActor func theMainActorIsCalled() async throws {
        let host = try self.host("203.0.113.9")
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        var calls = names.makeAsyncIterator()
        host.mainActorHandler = { status in
            MainActor.assertIsolated()
            continuation.yield(status.name)
        }
        #expect(host.mainActorHandler != nil)
        #expect(await calls.next() == "reachable")
        self.goOffline()
        #expect(await calls.next() == "unreachable")
        host.mainActorHandler = nil
        #expect(host.mainActorHandler == nil)
        self.monitor.report(.online(self.wan, gateway: "192.0.2.1"))
        host.reach { continuation.yield("own queue: \($0.name)") }
        #expect(await calls.next() == "own queue: reachable")
        host.cancel()
        host.mainActorHandler = { _ in continuation.yield("too late") }
        #expect(host.mainActorHandler == nil)
    }
}

/// Holds up a thread until it is opened.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { self.semaphore.signal() }
    func wait() {
        self.semaphore.wait()
        self.semaphore.signal()
    }
}
