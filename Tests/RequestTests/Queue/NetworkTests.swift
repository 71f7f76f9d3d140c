// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import GRDB
import NetPathHTTP
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath
@testable import OfflineRequests

/// What changes of the network mean for what is being sent, and that nothing happens while nothing can.
@Suite(.timeLimit(.minutes(5)))
struct QueueNetworkTests {
    /// The macro of tests takes no calls that change a value.
    private final class View {
        private var view = NetworkView()

        func change(to update: ConnectivityUpdate, at now: MonotonicTime) -> Bool {
            self.lost(update, at: now) != nil
        }

        func lost(_ update: ConnectivityUpdate, at now: MonotonicTime) -> [String]? {
            self.view.change(to: update, at: now)?.map(\.description).sorted()
        }
    }

    private static let start = MonotonicTime(nanoseconds: 0)

    private static func update(_ status: PathStatus, _ interfaces: [(UInt32, PathReason.Code)]) -> ConnectivityUpdate {
        let interfaces = interfaces.map { index, code in
            var interface = PathInterface(index: index, name: "if\(index)", type: .wired, reason: PathReason(code, ""))
            interface.addresses = [.fixture("192.0.2.\(index)/24")]
            interface.supportsIPv4 = true
            return interface
        }
        var path = NetworkPath(status, PathReason(.routed, "scripted"), interfaces: interfaces)
        path.supportsIPv4 = true
        return ConnectivityUpdate(path)
    }

    /// What a backend states is its word, and not what netpath has found out.
    @Test func whoStatesThatThereIsNoPathIsNamed() async throws {
        let conclusion = Conclusion(.unsatisfied, PathReason(.stated, "the modem is off"))
        let lab = try QueueLab(network: .stating(conclusion))
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request())
        try await QueueDeliveryTests.eventually { lab.monitor.path != nil }
        let name = try #require(lab.monitor.path?.statedBy)
        try await QueueDeliveryTests.eventually {
            try queue.record(id: id)?.waiting == .noPath("the modem is off (stated by \(name))")
        }
    }

    @Test func connectionsSurviveAShortLossOfTheSamePath() {
        let view = View()
        let on = Self.update(.satisfied, [(2, .routed)])
        #expect(!view.change(to: on, at: Self.start))
        #expect(!view.change(to: Self.update(.unsatisfied, [(2, .noCarrier)]), at: Self.start))
        #expect(!view.change(to: on, at: Self.start + .seconds(4)))
    }

    @Test func connectionsAreGivenUpAfterALongLoss() {
        let view = View()
        let on = Self.update(.satisfied, [(2, .routed)])
        _ = view.change(to: on, at: Self.start)
        _ = view.change(to: Self.update(.unsatisfied, [(2, .noCarrier)]), at: Self.start)
        // As long as there is no path they may still arrive.
        #expect(!view.change(to: Self.update(.unsatisfied, []), at: Self.start + .seconds(60)))
        #expect(view.change(to: on, at: Self.start + .seconds(61)))
        #expect(!view.change(to: on, at: Self.start + .seconds(62)))
    }

    @Test func theFirstPathEndsNoConnection() {
        let view = View()
        #expect(!view.change(to: Self.update(.unsatisfied, []), at: Self.start))
        #expect(!view.change(to: Self.update(.satisfied, [(2, .routed)]), at: Self.start + .seconds(60)))
    }

    @Test func connectionsAreGivenUpWithTheirInterface() {
        let view = View()
        _ = view.change(to: Self.update(.satisfied, [(2, .routed)]), at: Self.start)
        // Another is preferred, and the old one still there.
        let both = Self.update(.satisfied, [(3, .routed), (2, .alternative)])
        #expect(!view.change(to: both, at: Self.start))
        #expect(view.change(to: Self.update(.satisfied, [(2, .routed), (3, .noCarrier)]), at: Self.start))
    }

    @Test func onlyConnectionsFromAddressesThatAreGoneEnd() {
        let view = View()
        let both = Self.update(.satisfied, [(2, .routed), (3, .routed)])
        _ = view.change(to: both, at: Self.start)
        #expect(view.lost(Self.update(.satisfied, [(2, .routed), (3, .noCarrier)]), at: Self.start) == ["192.0.2.3"])
        _ = view.change(to: both, at: Self.start)
        _ = view.change(to: Self.update(.unsatisfied, []), at: Self.start)
        #expect(view.lost(both, at: Self.start + .seconds(60)) == ["192.0.2.2", "192.0.2.3"])
        #expect(view.lost(both, at: Self.start + .seconds(61)) == nil)
    }

    @Test func aBrokenMonitorEndsNoConnection() {
        let view = View()
        _ = view.change(to: Self.update(.satisfied, [(2, .routed)]), at: Self.start)
        #expect(!view.change(to: ConnectivityUpdate(nil), at: Self.start))
    }

    @Test func whereNobodyCanTellRequestsAreTried() async throws {
        let lab = try QueueLab(network: nil)
        let queue = try lab.started()
        var thrifty = lab.request("thrifty")
        thrifty.requires.unmeteredOnly = true
        let waiting = try await queue.enqueue(thrifty)
        #expect(try await queue.wait(for: queue.enqueue(lab.request("any"))).state == .succeeded)
        #expect(lab.sent == ["any"])
        #expect(try queue.record(id: waiting)?.waiting == .noPath("the state of the network is unknown"))
        lab.network.report(.wifi)
        #expect(try await queue.wait(for: waiting).state == .succeeded)
        // Nothing hung on a path that is gone.
        #expect(lab.transport.cancelled == 0)
    }

    @Test func whatHangsOnAPathThatIsGoneIsSentOverTheNextOne() async throws {
        let lab = try QueueLab(network: .wifi)
        lab.transport.answer(.held(.notSent))
        let queue = try lab.started()
        var request = lab.request()
        request.maxRetries = 0
        let id = try await queue.enqueue(request)
        try await lab.transport.waitForHeld()
        lab.network.report(.noLink)
        lab.network.report(.modem)
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.transport.cancelled == 1)
        #expect(lab.sent.count == 2)
        // Nor is anything begun on a connection that was idle.
        #expect(lab.transport.pathChanges == 1)
    }

    @Test func aHostThatIsNearNeedsNoPathToTheInternet() async throws {
        let kernel = ScriptedResolver(.noRoute)
        let lab = try QueueLab(network: .noLink, resolver: kernel)
        let queue = try lab.started()
        let id = try await queue.enqueue(lab.request("near"))
        var thrifty = lab.request("thrifty")
        thrifty.requires.unmeteredOnly = true
        var far = lab.request("far")
        far.endpoint = "http://203.0.113.7:8080/far"
        let waiting = [try await queue.enqueue(thrifty), try await queue.enqueue(far)]
        // The backends of the queue's own monitor are asked, and nobody else's.
        try await kernel.waitForQuestion(about: .fixture("192.0.2.80"))
        try await kernel.waitForQuestion(about: .fixture("203.0.113.7"))
        #expect(lab.sent.isEmpty)
        lab.transport.answer(.status(503), .status(200))
        let eth0 = NetworkInterface.wired("eth0", 3).with("192.0.2.8/24")
        kernel.answer("192.0.2.80", with: .through(eth0, gateway: nil, source: .from("192.0.2.8")))
        lab.network.report(.noLink)
        // Also once more after a failure.
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.sent == ["near", "near"])
        for id in waiting {
            guard case .noPath = try queue.record(id: id)?.waiting else {
                Issue.record("\(String(describing: try queue.record(id: id)?.waiting))")
                continue
            }
        }
        lab.network.report(.ethernet)
        try await queue.waitUntilEmpty()
        #expect(Set(lab.sent) == ["near", "thrifty", "far"])
    }

    /// It does not say where it goes, or names another place than the one it waits for.
    @Test(
        arguments: [
            "request = '{}'", "request = replace(CAST(request AS TEXT), '192.0.2.80', '123.0.2.80')",
            "gate = replace(gate, 'http ', 'https ')",
        ]
    )
    func oneThatIsDamagedIsHeldWhereAnotherWouldGo(change: String) async throws {
        let kernel = ScriptedResolver(.noRoute)
        let eth0 = NetworkInterface.wired("eth0", 3).with("192.0.2.8/24")
        kernel.answer("192.0.2.80", with: .through(eth0, gateway: nil, source: .from("192.0.2.8")))
        let lab = try QueueLab(network: .noLink, resolver: kernel)
        let writer = try lab.open()
        let id = try await writer.enqueue(lab.request("near"))
        try await writer.enqueue(lab.request("near"))
        await writer.shutdown(within: .zero)
        try await DatabaseQueue(path: lab.file).write { db in
            try db.execute(sql: "UPDATE request SET \(change) WHERE sequence = 1")
        }
        let queue = try lab.open()
        let events = Events(queue)
        queue.start()
        try await events.wait(for: .held(id, .damaged))
        try await events.wait { if case .succeeded = $0 { true } else { false } }
        #expect(lab.sent == ["near"])
    }

    /// More than are watched at the same time.
    @Test func aHostIsFoundNearAmongManyThatAreNot() async throws {
        let kernel = ScriptedResolver(.noRoute)
        let eth0 = NetworkInterface.wired("eth0", 3).with("192.0.2.8/24")
        kernel.answer("192.0.2.80", with: .through(eth0, gateway: nil, source: .from("192.0.2.8")))
        let lab = try QueueLab(network: .noLink, resolver: kernel)
        let queue = try lab.started()
        for number in 0..<400 {
            var far = lab.request("far")
            far.endpoint = "http://10.1.\(number / 200).\(number % 200 + 1)/far"
            _ = try await queue.enqueue(far)
        }
        let near = try await queue.enqueue(lab.request("near"))
        #expect(try await queue.wait(for: near).state == .succeeded)
        #expect(lab.sent == ["near"])
        // Another network may have other ways: all are asked about once more.
        let next = try await queue.enqueue(lab.request("next"))
        lab.network.report(.noLink)
        #expect(try await queue.wait(for: next).state == .succeeded)
    }

    @Test func oneThatIsTriedAgainIsFoundNear() async throws {
        let kernel = ScriptedResolver(.noRoute)
        let lab = try QueueLab(resolver: kernel)
        lab.transport.answer(.failure(.connectionLost, .mayHaveBeenReceived), .status(200))
        var settings = QueueLab.quick
        settings.baseBackoff = .milliseconds(500)
        settings.maxBackoff = .milliseconds(500)
        let queue = try lab.started(settings)
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request("near"))
        try await events.wait { $0.isBackoff }
        let eth0 = NetworkInterface.wired("eth0", 3).with("192.0.2.8/24")
        kernel.answer("192.0.2.80", with: .through(eth0, gateway: nil, source: .from("192.0.2.8")))
        lab.network.report(.noLink)
        #expect(try await queue.wait(for: id).state == .succeeded)
        #expect(lab.monitor.path?.status == .unsatisfied)
    }

    @Test func aReturnTriesAgain() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.failure(.timedOut, .mayHaveBeenReceived))
        var settings = QueueLab.quick
        settings.baseBackoff = .seconds(3600)
        settings.maxBackoff = .seconds(3600)
        let queue = try lab.started(settings)
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait { $0.isBackoff }
        lab.network.report(.noLink)
        lab.network.report(.wifi)
        try await events.wait(for: .succeeded(id, status: 200))
    }
}
