// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPath
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathNetlink

/// What is asked while the kernel is in the midst of a change, and contradicts what is known of a link.
@Suite(.enabled(if: geteuid() == 0 && NetworkNamespace.isAvailableOrRequired, "needs to enter a network namespace"))
struct ContradictionTests {
    /// The kernel flags routes before it tells that their link lost its carrier, and an event in between wakes netpath.
    @Test func aLinkIsReadAgainWhereItsRouteIsFlagged() async throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let reports = try await self.reports(in: lab) { session in
            try wan.setPeerCarrier(false)
            try self.wait { try lab.ip("route show default").contains("linkdown") }
            // The event about the link is not read yet.
            session.stale = .all
            session.report(even: false)
        }
        #expect(reports.map { $0.carrier(of: "wan0") } == [true, false])
        #expect(reports.map(\.isFlaggedDown) == [false, true])
    }

    /// The kernel tells that a link is down before its routes go, and that it has a carrier after they are free of the flag.
    @Test(arguments: [InterfaceFlags(), InterfaceFlags.up])
    func aLinkIsReadAgainWhereItsRouteStillAnswers(flags: InterfaceFlags) async throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let index = try UInt32(wan.index())
        let reports = try await self.reports(in: lab) { session in
            // As told by the first half of a change whose second half the kernel has yet to make.
            session.table.apply(.full(index, "wan0", kind: "veth", flags: flags, hasCarrier: false), now: nil)
            session.stale = .all
            session.report(even: true)
        }
        let isUp = reports.map { $0.interfaces?.first { $0.name == "wan0" }?.flags.contains(.up) }
        #expect(isUp == [true, true])
        #expect(reports.map { $0.carrier(of: "wan0") } == [true, true])
    }

    /// `setns(2)` and CLONE_NEWNET, which the Swift module of the C library leaves out.
    private static var enter: @convention(c) (Int32, Int32) -> Int32 {
        unsafe unsafeBitCast(dlsym(nil, "setns"), to: (@convention(c) (Int32, Int32) -> Int32).self)
    }
    private static let network: Int32 = 0x4000_0000

    /// Runs a session on a thread in a namespace: it begins, then the body goes on.
    private func reports(
        in lab: NetworkNamespace,
        _ body: @escaping @Sendable (NetlinkSession) throws -> Void
    ) async throws -> [Evidence] {
        let path = "/proc/\(lab.processIdentifier)/ns/net"
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let reports = Mutex<[Evidence]>([])
                continuation.resume(
                    with: Result {
                        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
                        defer { close(descriptor) }
                        try #require(Self.enter(descriptor, Self.network) == 0)
                        let context = MonitorContext(
                            clock: SystemMonotonicClock(),
                            refreshRequests: AsyncStream { $0.finish() },
                            watchedAddresses: AsyncStream { $0.finish() },
                            asksOnce: false,
                            report: { evidence in reports.withLock { $0.append(evidence) } },
                            register: { _ in },
                            log: { _, _ in }
                        )
                        let session = try NetlinkSession(options: .init(), context: context)
                        try session.begin()
                        try body(session)
                        return reports.withLock { $0 }
                    }
                )
            }
        }
    }

    private func wait(until isTrue: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !isTrue() {
            try #require(ContinuousClock.now < deadline)
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}

extension Evidence {
    fileprivate func carrier(of name: String) -> Bool? {
        self.interfaces?.first { $0.name == name }?.hasCarrier
    }

    /// Whether a reference route leads through a next hop that is flagged.
    fileprivate var isFlaggedDown: Bool {
        self.referenceRoutes.contains { route in
            if case .route(let route) = route.answer { route.nextHops.contains(where: \.isDown) } else { false }
        }
    }
}
