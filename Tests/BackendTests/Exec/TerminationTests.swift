// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import Synchronization
import Testing

@testable import NetPathExec
@testable import NetPathSystem

/// What it takes to end a program.
@Suite struct TerminationTests {
    /// A program that ends at once when it is asked to has not ended by itself.
    ///
    /// The thread that asks runs on the program's processor, which the program takes as soon as it can run (sched(7),
    /// SCHED_RR): it has ended before the thread goes on.
    @Test(.enabled(if: Self.mayBeInRealTime, "needs the right to real-time priority (CAP_SYS_NICE)"))
    func aQuickProgramIsNotTakenForOneThatHadEnded() throws {
        let ends = try Self.onThreadOfItsOwn {
            let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            let processor = try #require(status.firstMatch(of: /Cpus_allowed_list:\s*(\d+)/)).output.1
            let thread = try #require(status.firstMatch(of: /\nPid:\s*(\d+)/)).output.1
            try Self.run("taskset", "--cpu-list", "--pid", String(processor), String(thread))
            return try (0..<10).map { _ in
                try Self.run("chrt", "--rr", "--pid", "1", String(thread))
                let options = ExecMonitor.Options(command: ["/bin/sh", "-c", "echo ready; read -r line; exit 7"])
                let process = try ChildProcess(options.launchPlan())
                while ChildProcess.read(process.output)?.isEmpty == true { usleep(1_000) }
                try Self.run("chrt", "--other", "--pid", "0", String(thread))
                let method = process.end(request: Array("shutdown\n".utf8), patience: .seconds(20))
                return "\(method), \(process.ending?.description ?? "not ended")"
            }
        }
        #expect(ends == [String](repeating: "request, ended with exit status 7", count: 10))
    }

    /// In CI it has to be.
    private static let mayBeInRealTime =
        ProcessInfo.processInfo.environment["NETPATH_CI"] != nil || (try? status(["chrt", "--rr", "1", "true"])) == 0

    private static func run(_ words: String...) throws {
        try #require(try self.status(words) == 0, "\(words)")
    }

    private static func status(_ words: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Its processor and its priority end with it.
    private static func onThreadOfItsOwn<T: Sendable>(_ body: @escaping @Sendable () throws -> T) throws -> T {
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Result<T, any Error>?>(nil)
        Thread.detachNewThread {
            let value = Result { try body() }
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        let value = result.withLock { $0 }
        return try #require(value).get()
    }
}
