// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// What many hosts cost, in a process that does nothing else: public declarations only.
enum HostScenarios {
    static func run() throws {
        let before = measureResources()
        try self.startMany()
        // The monitor ends with the last host, on its own thread.
        print("the end:", self.excess(over: before, allowing: ["descriptors": 0]) ?? "idle")
    }

    /// Waits until no more is used than before, and returns nil; threads of the system's queues linger for a while.
    private static func excess(over former: [String: Int], allowing limits: [String: Int]) -> String? {
        var usage: [String: Int] = [:]
        let isOver = eventually(within: 15) {
            usage = measureResources()
            return limits.allSatisfy { usage[$0, default: 0] - former[$0, default: 0] <= $1 }
        }
        return isOver ? nil : "\(usage) after \(former)"
    }

    private static func excess(over former: [String: Int], kilobytes: Int) -> String {
        self.excess(over: former, allowing: ["descriptors": 0, "threads": 0, "memoryKiB": kilobytes]) ?? "same"
    }

    private static func cycle(_ count: Int) {
        for number in 0..<count {
            let host = HostReachability(address: InternetAddress(ipv4: 0x0A00_0000 + UInt32(number)))
            host.reach { _ in }
            _ = host.reach()
        }
    }

    private static func startMany() throws {
        let first = try HostReachability(host: "192.0.2.7")
        precondition(first.reach().isReachable, "the test gives a route")
        let one = measureResources()
        let hosts = (0..<1000).map { HostReachability(address: InternetAddress(ipv4: 0x0A00_0000 + $0)) }
        precondition(hosts.allSatisfy { $0.reach().isReachable }, "the test gives a route")
        print("a thousand hosts:", self.excess(over: one, kilobytes: 8 * 1024))
        for host in hosts { host.cancel() }
        self.cycle(1000)
        let warm = measureResources()
        self.cycle(10_000)
        print("ten thousand cycles:", self.excess(over: warm, kilobytes: 4 * 1024))
        first.cancel()
    }
}
