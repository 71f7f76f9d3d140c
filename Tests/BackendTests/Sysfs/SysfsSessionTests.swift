// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

@testable import NetPathSysfs

/// Looks at a network that changes meanwhile.
@Suite struct SysfsSessionTests {
    private let sysfs: FakeSysfs
    private let queries = FakeQueries(["eth0": 2])
    private let clock = ManualClock()
    private let session: SysfsSession

    init() throws {
        let sysfs = try FakeSysfs()
        try sysfs.add("eth0", 2)
        self.sysfs = sysfs
        var options = SysfsMonitor.Options()
        options.sysfs = sysfs.root
        options.procfs = sysfs.root
        options.resolvConf = "\(sysfs.root)/resolv.conf"
        options.interval = .seconds(1)
        self.session = SysfsSession(options: options, queries: self.queries, clock: self.clock)
        try Self.write(routes: ["eth0 100"], to: sysfs.root)
    }

    /// Writes default routes, each an interface and a metric.
    private static func write(routes: [String], to root: String) throws {
        let lines = routes.map { route in
            let words = route.split(separator: " ")
            let flags = words[0] == "*" ? "0001" : "0003"
            return "\(words[0])\t00000000\t00000000\t\(flags)\t0\t0\t\(words[1])\t00000000\t0\t0\t0\n"
        }
        let header = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        try (header + lines.joined()).write(toFile: "\(root)/route", atomically: true, encoding: .utf8)
    }

    private func metric(_ evidence: Evidence) -> UInt32? {
        guard case .route(let route) = evidence.referenceRoutes.first?.answer else { return nil }
        return route.metric
    }

    // MARK: Time

    @Test func oneSlowLookDoesNotBlindIt() throws {
        var isSlow = true
        self.queries.onQuestion = { [clock] _ in
            // A system call that has to wait.
            if isSlow { clock.advance(by: .seconds(3)) }
            isSlow = false
        }
        _ = try self.session.look()
        #expect(try #require(self.session.schedule.next) - self.clock.now() <= .seconds(3))
    }

    // MARK: Torn pictures

    @Test func whatWasSeenBeforeStaysUntilThePictureStandsStill() throws {
        let (before, _) = try self.session.look()
        #expect(self.metric(before) == 100)
        #expect(before.limitations == [])
        var metric = 1000
        self.queries.onQuestion = { [sysfs] _ in
            metric += 1
            try? Self.write(routes: ["eth0 \(metric)"], to: sysfs.root)
        }
        self.clock.advance(by: .seconds(1))
        for round in 1...3 {
            let (torn, isNews) = try self.session.look()
            #expect(self.metric(torn) == 100)
            #expect(torn.limitations == [SysfsSession.unsteady])
            #expect(torn.observedAt == before.observedAt, "it says when it was seen")
            #expect(isNews == (round == 1))
        }
        // Tried again soon at first, and less and less often.
        #expect(try #require(self.session.schedule.next) - self.clock.now() == .milliseconds(800))
        self.queries.onQuestion = { _ in }
        let (after, isNews) = try self.session.look()
        #expect(isNews)
        #expect(self.metric(after) == UInt32(metric))
        #expect(after.limitations == [])
    }

    @Test func firstPictureIsShownWithADoubt() throws {
        var metric = 1000
        self.queries.onQuestion = { [sysfs] _ in
            metric += 1
            try? Self.write(routes: ["eth0 \(metric)"], to: sysfs.root)
        }
        let (torn, isNews) = try self.session.look()
        #expect(isNews)
        #expect(torn.limitations == [SysfsSession.unsteadyAtFirst])
        self.queries.onQuestion = { _ in }
        #expect(try self.session.look().0.limitations == [])
    }

    @Test func otherInterfacesMayComeAndGoWithoutEnd() throws {
        _ = try self.session.look()
        var number = 10
        self.queries.onQuestion = { [sysfs, queries] name in
            guard name == "eth0" else { return }
            let isThere = queries.cards["gone\(number)"] != nil
            queries.cards["gone\(number)"] = nil
            try? sysfs.remove("gone\(number)")
            if isThere { return }
            number += 1
            queries.cards["gone\(number)"] = FakeQueries.Card(index: UInt32(number))
            try? sysfs.add("gone\(number)", number)
        }
        try Self.write(routes: ["eth0 200"], to: self.sysfs.root)
        let (evidence, isNews) = try self.session.look()
        #expect(isNews)
        #expect(self.metric(evidence) == 200)
        #expect(evidence.limitations == [])
    }

    // MARK: Routes that refuse

    @Test(arguments: [RouteLookupResult.noRoute, .rejected(.blackhole), .rejected(.prohibit), .unknown])
    func whoConnectsIsToldWhatARouteRefuses(_ refusal: RouteLookupResult) throws {
        self.queries.refusal = refusal
        try Self.write(routes: ["* 50", "eth0 100"], to: self.sysfs.root)
        #expect(try self.session.look().0.referenceRoutes.first?.answer == refusal)
        // Only where the kernel would come to that route.
        try Self.write(routes: ["eth0 100", "* 500"], to: self.sysfs.root)
        #expect(self.metric(try self.session.look().0) == 100)
    }
}
