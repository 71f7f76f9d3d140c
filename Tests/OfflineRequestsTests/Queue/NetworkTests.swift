// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
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

        var isSatisfied: Bool { self.view.isSatisfied }

        func change(to update: ConnectivityUpdate, at now: MonotonicTime) -> Bool {
            self.view.change(to: update, at: now)
        }
    }

    private static let start = MonotonicTime(nanoseconds: 0)

    private static func update(_ status: PathStatus, _ interfaces: [(UInt32, PathReason.Code)]) -> ConnectivityUpdate {
        let interfaces = interfaces.map { index, code in
            PathInterface(
                index: index,
                name: "if\(index)",
                type: .wired,
                addresses: [.fixture("192.0.2.\(index)/24")],
                gateways: [],
                supportsIPv4: true,
                supportsIPv6: false,
                reason: PathReason(code, "")
            )
        }
        let path = NetworkPath(
            status: status,
            reason: PathReason(.routed, "scripted"),
            isStale: false,
            interfaces: interfaces,
            gateways: [],
            supportsIPv4: true,
            supportsIPv6: false,
            isExpensive: false,
            isConstrained: false,
            internet: .unknown,
            probes: [],
            backends: [],
            disagreements: [],
            sequence: 1,
            publishedAt: Self.start,
            observedAt: Self.start
        )
        return ConnectivityUpdate(path)
    }

    @Test func connectionsSurviveAShortLossOfTheSamePath() {
        let view = View()
        let on = Self.update(.satisfied, [(2, .routed)])
        #expect(!view.change(to: on, at: Self.start))
        #expect(!view.change(to: Self.update(.unsatisfied, [(2, .noCarrier)]), at: Self.start))
        #expect(!view.isSatisfied)
        #expect(!view.change(to: on, at: Self.start + .seconds(4)))
        #expect(view.isSatisfied)
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

    @Test func connectionsAreGivenUpWithTheirInterface() {
        let view = View()
        _ = view.change(to: Self.update(.satisfied, [(2, .routed)]), at: Self.start)
        // Another is preferred, and the old one still there.
        let both = Self.update(.satisfied, [(3, .routed), (2, .alternative)])
        #expect(!view.change(to: both, at: Self.start))
        #expect(view.change(to: Self.update(.satisfied, [(2, .routed), (3, .noCarrier)]), at: Self.start))
    }

    @Test func aBrokenMonitorDoesNotMeanOffline() {
        let view = View()
        _ = view.change(to: Self.update(.satisfied, [(2, .routed)]), at: Self.start)
        #expect(!view.change(to: ConnectivityUpdate(nil), at: Self.start))
        #expect(view.isSatisfied)
    }

    @Test func whereNobodyCanTellRequestsAreTried() async throws {
        let lab = try QueueLab(network: nil)
        let queue = try lab.started()
        var thrifty = lab.request("thrifty")
        thrifty.requires.unmeteredOnly = true
        let waiting = try await queue.enqueue(thrifty)
        #expect(try await queue.wait(for: queue.enqueue(lab.request("any"))).state == .succeeded)
        #expect(lab.sent == ["any"])
        #expect(try queue.record(id: waiting)?.waiting == .noPath("nobody can tell how the network is"))
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

    @Test func aHostThatHasToBeReachable() async throws {
        let lab = try QueueLab()
        let queue = try lab.started()
        var request = lab.request()
        // The network of the machine itself is asked, where this one is always there.
        request.requires.hostReachable = "127.0.0.1"
        #expect(try await queue.wait(for: queue.enqueue(request)).state == .succeeded)
    }

    @Test func theNotificationOfAReturnTriesAgain() async throws {
        let lab = try QueueLab()
        lab.transport.answer(.failure(.timedOut, .mayHaveBeenReceived))
        var settings = QueueSettings(delivery: QueueLab.quick)
        settings.delivery.baseBackoff = .seconds(3600)
        settings.delivery.maxBackoff = .seconds(3600)
        let queue = try lab.started(settings)
        let events = Events(queue)
        let id = try await queue.enqueue(lab.request())
        try await events.wait { $0.isBackoff }
        NotificationCenter.default.post(name: NetworkMonitor.connectivityRestoredNotification, object: lab.monitor)
        try await events.wait(for: .succeeded(id, status: 200))
    }
}
