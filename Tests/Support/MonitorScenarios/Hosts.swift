// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import Reachability

/// What the process uses.
private struct Usage: Equatable {
    var descriptors = 0
    var threads = 0
    var kilobytes = 0

    static func now() throws -> Usage {
        var usage = Usage()
        usage.descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        for line in try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            if line.hasPrefix("Threads:") { usage.threads = Int(words[1]) ?? 0 }
            if line.hasPrefix("VmRSS:") { usage.kilobytes = Int(words[1]) ?? 0 }
        }
        return usage
    }

    /// Waits until no more is used than before; threads of the system's queues linger for a while.
    static func excess(over former: Usage, kilobytes: Int) throws -> String {
        var usage = try Usage.now()
        for _ in 0..<150 {
            if usage.descriptors <= former.descriptors, usage.threads <= former.threads,
                usage.kilobytes - former.kilobytes <= kilobytes
            {
                return "same"
            }
            Thread.sleep(forTimeInterval: 0.1)
            usage = try Usage.now()
        }
        return "\(usage) after \(former)"
    }
}

/// What many hosts cost, in a process that does nothing else: public declarations only.
enum HostScenarios {
    static func run() throws {
        let before = try Usage.now()
        try self.startMany()
        // The monitor ends with the last host, on its own thread.
        var end = try Usage.now()
        for _ in 0..<100 where end.descriptors > before.descriptors {
            Thread.sleep(forTimeInterval: 0.1)
            end = try Usage.now()
        }
        print("the end:", end.descriptors <= before.descriptors ? "idle" : "\(end) after \(before)")
    }

    private static func cycle(_ count: Int) throws {
        for number in 0..<count {
            let host = HostReachability(address: InternetAddress(ipv4: 0x0A00_0000 + UInt32(number)))
            host.reach { _ in }
            _ = host.reach()
        }
    }

    private static func startMany() throws {
        let first = try HostReachability(host: "192.0.2.7")
        precondition(first.reach().isReachable, "the test gives a route")
        let one = try Usage.now()
        let hosts = (0..<1000).map { HostReachability(address: InternetAddress(ipv4: 0x0A00_0000 + $0)) }
        precondition(hosts.allSatisfy { $0.reach().isReachable }, "the test gives a route")
        print("a thousand hosts:", try Usage.excess(over: one, kilobytes: 8 * 1024))
        for host in hosts { host.cancel() }
        try self.cycle(1000)
        let warm = try Usage.now()
        try self.cycle(10_000)
        print("ten thousand cycles:", try Usage.excess(over: warm, kilobytes: 4 * 1024))
        first.cancel()
    }
}
