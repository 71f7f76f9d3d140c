// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathTestKit
import Testing

@testable import NetPathSysfs

/// The monitor on this machine, whatever it is connected to.
@Suite struct SysfsMonitorTests {
    /// A run of the monitor, with what a coordinator would give it.
    private struct Running {
        let reports: AsyncStream<Evidence>
        let refresh: AsyncStream<Void>.Continuation
        let task: Task<Void, any Error>

        init(_ options: SysfsMonitor.Options, asksOnce: Bool = false) {
            let (reports, report) = AsyncStream.makeStream(of: Evidence.self)
            let (requests, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let context = MonitorContext(
                clock: SystemMonotonicClock(),
                refreshRequests: requests,
                watchedAddresses: AsyncStream { $0.finish() },
                asksOnce: asksOnce,
                report: { report.yield($0) },
                register: { _ in },
                log: { _, _ in }
            )
            self.reports = reports
            self.refresh = refresh
            self.task = Task {
                defer { report.finish() }
                try await SysfsMonitor(options).run(context)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func whoeverIsAskedOnceReportsAndReturns() async throws {
        let running = Running(.init(), asksOnce: true)
        try await running.task.value
        var count = 0
        for await evidence in running.reports {
            #expect(evidence.interfaces != nil)
            count += 1
        }
        #expect(count == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func reportsAtOnceAndAnswersEveryRefresh() async throws {
        var options = SysfsMonitor.Options()
        // Nothing but a refresh wakes it.
        options.interval = .seconds(3600)
        options.fastInterval = .seconds(3600)
        let running = Running(options)
        var iterator = running.reports.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.isPartial)
        #expect(first.interfaces != nil)
        #expect(first.referenceRoutes.map(\.destination) == ReferenceRoute.defaultDestinations)
        for _ in 0..<5 {
            running.refresh.yield()
            // Unchanged evidence is an answer too.
            _ = try #require(await iterator.next())
        }
        running.task.cancel()
        try await running.task.value
    }

    @Test(.timeLimit(.minutes(5)))
    func findsAChangeByItself() async throws {
        let file = NSTemporaryDirectory() + "netpath-resolv-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        var options = SysfsMonitor.Options()
        options.resolvConf = file
        options.interval = .milliseconds(100)
        let running = Running(options)
        var iterator = running.reports.makeAsyncIterator()
        #expect(try #require(await iterator.next()).dnsServers == nil)
        try "nameserver 192.0.2.53\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try #require(await iterator.next()).dnsServers == [DNSServer(InternetAddress(ipv4: 0xC000_0235))])
        running.task.cancel()
        try await running.task.value
    }

    @Test func readsWhatAStubForwardsTo() throws {
        let directory = try TemporaryDirectory()
        try directory.write("resolv.conf", "nameserver 127.0.0.53\n")
        try directory.write("run/systemd/resolve/resolv.conf", "nameserver 192.0.2.53\n")
        var options = SysfsMonitor.Options()
        options.resolvConf = directory["resolv.conf"]
        options.runtime = directory["run"]
        let session = try SysfsSession(options: options, clock: SystemMonotonicClock())
        let evidence = try session.look().0
        #expect(evidence.dnsServers == [DNSServer(InternetAddress(ipv4: 0xC000_0235))])
        // It does not ask the kernel about them, and not to know is not a no.
        #expect(evidence.dnsRoutes == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func sayWhatCannotBeReadAtAll() async throws {
        var options = SysfsMonitor.Options()
        options.procfs = "/nonexistent/net"
        options.sysfs = "/nonexistent/sys"
        let running = Running(options)
        let error = await #expect(throws: SysfsError.self) { try await running.task.value }
        #expect("\(try #require(error))" == "neither /nonexistent/net/dev nor /nonexistent/sys/class/net can be read")
    }

    /// `ipv6.disable=1`: neither if_inet6 nor ipv6_route is there, which is a plain no and no limitation.
    @Test func aKernelWithoutIPv6SaysNo() throws {
        let sysfs = try FakeSysfs()
        var options = SysfsMonitor.Options()
        options.sysfs = sysfs.root
        options.procfs = sysfs.root
        try sysfs.add("eth0", 2)
        func write(_ lines: String) throws {
            let header = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
            try (header + lines).write(toFile: "\(sysfs.root)/route", atomically: true, encoding: .utf8)
        }
        let session = SysfsSession(options: options, queries: FakeQueries(["eth0": 2]), clock: SystemMonotonicClock())
        func look() throws -> PathStatus? {
            let (evidence, _) = try session.look()
            #expect(evidence.limitations == [])
            #expect(
                evidence.referenceRoutes.allSatisfy { $0.destination.family == .ipv4 || $0.answer == .noRoute }
            )
            return evidence.verdict(policy: EvaluationPolicy(), now: evidence.observedAt)?.status
        }
        try write("")
        #expect(try look() == .unsatisfied)
        try write("eth0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n")
        #expect(try look() != nil)
        try write("")
        #expect(try look() == .unsatisfied)
    }

    @Test func unreadableTablesAreUnknownAndNeverANo() throws {
        let sysfs = try FakeSysfs()
        var options = SysfsMonitor.Options()
        options.sysfs = sysfs.root
        options.procfs = sysfs.root
        try sysfs.add("eth0", 2)
        let session = SysfsSession(options: options, queries: FakeQueries(["eth0": 2]), clock: SystemMonotonicClock())
        let (evidence, _) = try session.look()
        #expect(evidence.referenceRoutes.allSatisfy { $0.answer == .unknown })
        #expect(evidence.limitations.count == 2)
        #expect(evidence.verdict(policy: EvaluationPolicy(), now: evidence.observedAt) == nil)
    }
}
