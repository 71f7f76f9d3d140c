// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc

/// What all processes hold that this one has started, and those that they have.
package struct ProgramHoldings: Hashable, Sendable {
    /// Open files.
    package var descriptors = 0
    /// Ended ones that their parents have not waited for included.
    package var processes = 0
    /// Memory of their own.
    package var bytes = 0

    /// Counts what the kernel lists; what ends meanwhile has nothing.
    package static func now() -> ProgramHoldings {
        var holdings = ProgramHoldings()
        for process in self.descendants(of: getpid()) {
            holdings.processes += 1
            let folder = "/proc/\(process)"
            holdings.descriptors += (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd"))?.count ?? 0
            let memory = (try? String(contentsOfFile: "\(folder)/smaps_rollup", encoding: .utf8)) ?? ""
            let line = memory.split(separator: "\n").first { $0.hasPrefix("Anonymous:") } ?? ""
            holdings.bytes += (Int(line.filter(\.isNumber)) ?? 0) * 1_024
        }
        return holdings
    }

    /// Ends what programs left behind that have all been ended: processes that this one has adopted.
    package static func endLeftovers() {
        for process in self.descendants(of: getpid()) { _ = kill(process, SIGKILL) }
    }

    private static func descendants(of process: Int32) -> [Int32] {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let children = threads.flatMap { thread in
            let text = try? String(contentsOfFile: "\(folder)/\(thread)/children", encoding: .utf8)
            return (text?.split(separator: " ") ?? []).compactMap { Int32($0) }
        }
        return children + children.flatMap { self.descendants(of: $0) }
    }

    package static func - (left: ProgramHoldings, right: ProgramHoldings) -> ProgramHoldings {
        ProgramHoldings(
            descriptors: left.descriptors - right.descriptors,
            processes: left.processes - right.processes,
            bytes: left.bytes - right.bytes
        )
    }

    package func minimum(_ other: ProgramHoldings) -> ProgramHoldings {
        ProgramHoldings(
            descriptors: min(self.descriptors, other.descriptors),
            processes: min(self.processes, other.processes),
            bytes: min(self.bytes, other.bytes)
        )
    }
}
