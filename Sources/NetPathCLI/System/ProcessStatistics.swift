// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// What this process uses: proc_pid_stat(5).
struct ProcessStatistics: Sendable {
    /// Of all threads, in user and in system mode.
    let processorTime: Duration
    let virtualBytes: Int64
    let residentBytes: Int64
    let threads: Int64
    let descriptors: Int
    /// How many descriptors may be open.
    let descriptorLimit: Int
    /// When it began: the time since 1970; nil where the system does not say when it booted.
    let start: Duration?

    /// Reads it; nil without procfs.
    init?() {
        // After the name of the program, which may hold anything.
        guard let stat = FileAccess.contents("/proc/self/stat", limit: 4_096), let end = stat.lastIndex(of: ")") else {
            return nil
        }
        let fields = stat[stat.index(after: end)...].split(separator: " ").map { Int64($0) ?? 0 }
        guard fields.count > 21 else { return nil }
        let ticks = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        let time = { (count: Int64) -> Duration in
            let (seconds, rest) = max(0, count).quotientAndRemainder(dividingBy: ticks)
            return .seconds(seconds) + .nanoseconds(rest * (1_000_000_000 / ticks))
        }
        self.processorTime = time(fields[11].addingSaturating(fields[12]))
        self.threads = fields[17]
        self.virtualBytes = fields[20]
        let resident = fields[21].multipliedReportingOverflow(by: Int64(max(1, sysconf(Int32(_SC_PAGESIZE)))))
        self.residentBytes = resident.overflow ? 0 : resident.partialValue
        self.descriptors = FileAccess.names(in: "/proc/self/fd").count
        self.descriptorLimit = OpenFiles.limit
        let boot = FileAccess.contents("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        self.start = boot.flatMap { Int64($0.dropFirst(6)) }.map { Duration.seconds($0) + time(fields[19]) }
    }
}
