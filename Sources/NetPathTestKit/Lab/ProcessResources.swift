// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// What this process holds, or how much more than before.
struct ProcessResources: Hashable, Sendable {
    var descriptors: Int
    var threads: Int
    /// Children, zombies included.
    var processes: Int
    /// Memory of its own.
    var bytes: Int

    /// Counts what the kernel lists.
    static func now() throws -> ProcessResources {
        let count = { try FileManager.default.contentsOfDirectory(atPath: $0) }
        let threads = try count("/proc/self/task")
        let children = threads.flatMap { thread in
            // A thread may have ended meanwhile, and not every kernel lists children.
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)
            return text?.split(separator: " ") ?? []
        }
        // Exact, unlike the counters of /proc/self/status.
        let memory = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = memory.split(separator: "\n").first { $0.hasPrefix("Anonymous:") } ?? ""
        return ProcessResources(
            descriptors: try count("/proc/self/fd").count,
            threads: threads.count,
            processes: children.count,
            bytes: (Int(line.filter(\.isNumber)) ?? 0) * 1_024
        )
    }

    static func - (left: ProcessResources, right: ProcessResources) -> ProcessResources {
        ProcessResources(
            descriptors: left.descriptors - right.descriptors,
            threads: left.threads - right.threads,
            processes: left.processes - right.processes,
            bytes: left.bytes - right.bytes
        )
    }

    func minimum(_ other: ProcessResources) -> ProcessResources {
        ProcessResources(
            descriptors: min(self.descriptors, other.descriptors),
            threads: min(self.threads, other.threads),
            processes: min(self.processes, other.processes),
            bytes: min(self.bytes, other.bytes)
        )
    }

    /// Whether there is more of what can be counted one by one.
    func holdsMore(than other: ProcessResources) -> Bool {
        self.descriptors > other.descriptors || self.threads > other.threads || self.processes > other.processes
    }
}
