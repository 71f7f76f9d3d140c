// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathTCPProbe

/// What is left behind by a run: nothing.
@Suite(.serialized) struct CancellationTests {
    /// The number of descriptors of this process that are sockets or pipes.
    private static func openDescriptors() -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? ""
            return link.hasPrefix("socket:") || link.hasPrefix("pipe:")
        }
    }

    private static func context(_ report: @escaping @Sendable (Evidence) -> Void = { _ in }) -> MonitorContext {
        MonitorContext(
            clock: SystemMonotonicClock(),
            refreshRequests: AsyncStream { $0.yield() },
            watchedAddresses: AsyncStream { _ in },
            report: report,
            register: { _ in },
            log: { _, _ in }
        )
    }

    @Test(.timeLimit(.minutes(5))) func everySocketIsClosedAtWhateverMomentARunIsCancelled() async throws {
        let answering = try Listener()
        // Its queue is full, so that attempts hang.
        let full = try Listener(backlog: 0)
        let options = try TCPProbeMonitor.Options.to(full.target, "[::1]:\(full.port)", answering.target, "a.test:1") {
            $0.stagger = .milliseconds(10)
            $0.maxPerMinute = 6_000
        }
        let names = NameService { _ in .addresses((1...9).map { InternetAddress(ipv4: 0x7F00_0000 + $0) }) }
        // Other tests of this process open and close descriptors as well.
        var leaked = Int.max
        for _ in 0..<5 where leaked > 0 {
            let before = Self.openDescriptors()
            for round in 0..<200 {
                // A budget of its own, or there would soon be no sockets to close.
                let monitor = TCPProbeMonitor(options, names: names, ledger: ProbeLedger())
                let task = Task { try await monitor.run(Self.context()) }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...(round * 100))))
                task.cancel()
                _ = await task.result
                _ = answering.accepted()
            }
            leaked = Self.openDescriptors() - before
        }
        #expect(leaked <= 0)
    }

    @Test(.timeLimit(.minutes(5))) func cancellationDoesNotWaitForTheResolver() async throws {
        let asked = Mutex(0)
        let (release, hold) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let names = NameService { _ in
            asked.withLock { $0 += 1 }
            hold.yield()
            gate.wait()
            return .failed("too late")
        }
        let monitor = TCPProbeMonitor(try .to("hanging.test:1"), names: names, ledger: ProbeLedger())
        var waits = release.makeAsyncIterator()
        for run in 0..<20 {
            let task = Task { try await monitor.run(Self.context()) }
            if run == 0 { await waits.next() }
            task.cancel()
            _ = await task.result
        }
        // However often it is started: a single thread hangs.
        #expect(asked.withLock { $0 } == 1)
        gate.signal()
    }

    @Test(.timeLimit(.minutes(5))) func anInterfaceThatIsNotThereIsAnOutcome() async throws {
        // It may come later, so this is no failure of the backend.
        let options = try TCPProbeMonitor.Options.to("127.0.0.1:1") { $0.interface = "none0" }
        let path = try await RunningProbe(options).path()
        #expect(path.probes.first?.result == .unreachable(errno: ENODEV))
    }
}
