// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPath
import NetPathNetlink
import NetPathPluginKit
import NetPathSysfs
import NetPathTCPProbe
import NetPathTestKit
import Testing

/// What comes with netpath keeps what it asks of others, in a network of its own that nobody else changes.
@Suite(.serialized, .timeLimit(.minutes(10)), .needsNamespaces, .inNamespace)
struct BuiltInConformanceTests {
    /// The other tests of this process need processors too.
    private static let limits = BackendConformance.Limits().extended(by: 10)

    @Test func netlink() async {
        let report = await BackendConformance("netlink", limits: Self.limits) { NetlinkMonitor() }.check()
        #expect(report.isConforming, "\(report)")
    }

    @Test func sysfs() async {
        let report = await BackendConformance("sysfs", limits: Self.limits) { SysfsMonitor() }.check()
        #expect(report.isConforming, "\(report)")
    }

    /// The kit that new backends begin with: a file that is watched and looked at, as its documentation has it.
    @Test func pluginKit() async throws { try await self.checkKit(isThreaded: false) }
    @Test func threadedPluginKit() async throws { try await self.checkKit(isThreaded: true) }

    private func checkKit(isThreaded: Bool) async throws {
        let folder = try TemporaryDirectory()
        let path = folder["flag"]
        let report = await BackendConformance(
            "flag",
            limits: Self.limits,
            // A path that leads through a file: nothing can be seen there.
            withoutSource: { FlagFileMonitor(path: "/dev/null/flag", isThreaded: isThreaded) },
            make: { FlagFileMonitor(path: path, isThreaded: isThreaded) }
        ).check()
        #expect(report.isConforming, "\(report)")
    }

    /// A refusal of the machine's own is an answer like any other.
    @Test func tcpProbe() async throws {
        let target = try ProbeTarget("127.0.0.1:1")
        let report = await BackendConformance("tcpProbe", limits: Self.limits) {
            TCPProbeMonitor(TCPProbeMonitor.Options(targets: [target]))
        }.check()
        #expect(report.isConforming, "\(report)")
    }
}

/// A backend made of nothing but the kit.
private struct FlagFileMonitor: PathMonitor {
    let path: String
    let isThreaded: Bool

    func run(_ context: MonitorContext) async throws {
        if self.isThreaded {
            try await context.poll(every: .seconds(1), watching: [self.path]) {
                try await BackgroundThread.run { try self.look(context) }
            }
        } else {
            try await context.poll(every: .seconds(1), watching: [self.path]) { try self.look(context) }
        }
    }

    private func look(_ context: MonitorContext) throws -> Evidence {
        var evidence = Evidence(at: context.clock.now())
        let isThere = unsafe access(self.path, F_OK) == 0
        guard isThere || errno == ENOENT else { throw SourceUnavailable("cannot look for \(self.path)") }
        evidence.conclusion = Conclusion(isThere ? .satisfied : .unsatisfied, PathReason(.stated, self.path))
        return evidence
    }
}

/// Runs each test in a process of its own, in a network namespace with an uplink: the threads of this process are in the
/// machine's.
private struct NamespaceTrait: TestTrait, SuiteTrait, TestScoping {
    private static let variable = "NETPATH_TEST_IS_INSIDE"
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !test.isSuite, ProcessInfo.processInfo.environment[Self.variable] == nil else {
            return try await function()
        }
        let namespace = try NetworkNamespace()
        try namespace.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"], gateway: "192.0.2.1")
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let filter = "BuiltInConformanceTests/\(test.name.prefix { $0 != "(" })"
        let command = "\(Self.variable)=1 '\(program)' --testing-library swift-testing --filter '\(filter)'"
        // It takes long, and the other tests need the threads of the pool.
        let output = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try namespace.run(command + " 2>&1 || echo failed", timeout: .seconds(300)) }
                )
            }
        }
        // One test that passed: a filter that fits none would pass too.
        #expect(output.contains("with 1 test") && !output.hasSuffix("failed\n"), "\(output)")
    }
}

extension Trait where Self == NamespaceTrait {
    fileprivate static var inNamespace: Self { NamespaceTrait() }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var needsNamespaces: Self {
        .enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")")
    }
}
