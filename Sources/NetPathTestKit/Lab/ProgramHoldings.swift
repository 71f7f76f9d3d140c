// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc

/// What processes hold, or how much more than before.
package struct ProgramHoldings: Hashable, Sendable {
    /// Open files.
    package var descriptors = 0
    /// Threads.
    package var threads = 0
    /// Ended ones that their parents have not waited for included.
    package var processes = 0
    /// Memory of their own.
    package var bytes = 0

    /// Counts what all processes hold that this one has started, and those that they have; what ends meanwhile has nothing.
    package static func now() -> ProgramHoldings {
        let descendants = self.descendants(of: getpid())
        var sum = ProgramHoldings()
        for process in descendants { sum = sum.combined(Self(of: process), +) }
        sum.processes = descendants.count
        return sum
    }

    /// Counts what this process holds, its children among it.
    static func ofThisProcess() -> ProgramHoldings { Self(of: getpid()) }

    /// Counts what a process holds; one that has ended has nothing.
    package init(of process: Int32) {
        self.descriptors = Self.names(process, "fd").count
        self.threads = Self.names(process, "task").count
        self.processes = Self.children(of: process).count
        // Exact, unlike the counters of /proc/self/status.
        let memory = (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)) ?? ""
        let line = memory.split(separator: "\n").first { $0.hasPrefix("Anonymous:") } ?? ""
        self.bytes = (Int(line.filter(\.isNumber)) ?? 0) * 1_024
    }

    private init() {}

    private static func names(_ process: Int32, _ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/\(folder)")) ?? []
    }

    /// Ends what programs left behind that have all been ended: processes that this one has adopted.
    package static func endLeftovers() {
        for process in self.descendants(of: getpid()) { _ = kill(process, SIGKILL) }
    }

    private static func descendants(of process: Int32) -> [Int32] {
        let children = self.children(of: process)
        return children + children.flatMap { self.descendants(of: $0) }
    }

    /// The children of a process, those of all its threads.
    static func children(of process: Int32) -> [Int32] {
        self.names(process, "task").flatMap { thread in
            // A thread may have ended meanwhile, and not every kernel lists children.
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)
            return (text?.split(separator: " ") ?? []).compactMap { Int32($0) }
        }
    }

    private func combined(_ other: ProgramHoldings, _ operation: (Int, Int) -> Int) -> ProgramHoldings {
        var result = ProgramHoldings()
        for count in [\Self.descriptors, \.threads, \.processes, \.bytes] as [WritableKeyPath<Self, Int>] {
            result[keyPath: count] = operation(self[keyPath: count], other[keyPath: count])
        }
        return result
    }

    package static func - (left: ProgramHoldings, right: ProgramHoldings) -> ProgramHoldings { left.combined(right, -) }

    package func maximum(_ other: ProgramHoldings) -> ProgramHoldings { self.combined(other, max) }

    package func minimum(_ other: ProgramHoldings) -> ProgramHoldings { self.combined(other, min) }

    /// Whether there is more of what can be counted one by one.
    package func holdsMore(than other: ProgramHoldings) -> Bool {
        self.descriptors > other.descriptors || self.threads > other.threads || self.processes > other.processes
    }
}
