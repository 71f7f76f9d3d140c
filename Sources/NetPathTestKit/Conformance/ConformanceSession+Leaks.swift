// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

// What only many runs tell.
extension ConformanceSession {
    /// The batches that are compared; the one before them fills what is kept for ever.
    private static let batches = 4
    /// Growth of less than this is what allocators and caches do: in a batch, and in each of its cycles.
    private static let spareOctets = (batch: 65_536, cycle: 256)

    /// Starts and ends the backend many times.
    ///
    /// What leaks grows in every batch, what others do in the process grows in some: the smallest growth counts.
    func checkLeaks() async throws -> String {
        let size = max(1, self.limits.cycles / (Self.batches + 1))
        try await self.cycle(size)
        if self.isProgram { return try await self.checkLeftovers(size) }
        var last = try await self.settled(below: ProgramHoldings.ofThisProcess())
        var least: ProgramHoldings?
        for _ in 0..<Self.batches {
            try await self.cycle(size)
            let now = try await self.settled(below: last)
            let growth = now - last
            least = least?.minimum(growth) ?? growth
            last = now
        }
        guard let least else { return "" }
        // One of a process's own comes and goes; what leaks now and then leaks more often than once in twenty.
        let allowance = size / 20
        var leaks: [String] = []
        if least.descriptors > allowance { leaks.append("descriptors: \(least.descriptors) in \(size) runs") }
        if least.threads > allowance { leaks.append("threads: \(least.threads) in \(size) runs") }
        if least.processes > allowance { leaks.append("processes: \(least.processes) in \(size) runs") }
        if self.limits.cycles >= 500, least.bytes > Self.spareOctets.batch + Self.spareOctets.cycle * size {
            leaks.append(
                "memory: \(least.bytes / size) bytes a run (Task.sleep keeps some until its deadline: sleep on the context's clock)"
            )
        }
        guard leaks.isEmpty else { throw Broken("more after every run, \(leaks.joined(separator: ", "))") }
        return "none in \(size * (Self.batches + 1)) runs" + (self.limits.cycles < 500 ? "; memory takes 500" : "")
    }

    /// What a program leaves behind is in no process of its own: daemons, and files.
    private func checkLeftovers(_ size: Int) async throws -> String {
        var files = LeftFiles()
        let before = self.daemons
        for _ in 0..<Self.batches {
            try await self.cycle(size)
            files.count()
        }
        let (daemons, runs) = (self.daemons - before, size * Self.batches)
        if files.least > size / 2 {
            // Those of other processes come while it does not run, too.
            for _ in 0..<2 {
                let start = ContinuousClock.now
                try await self.cycle(size)
                files.count()
                try await ThreadClock.shared.sleep(for: ContinuousClock.now - start)
                files.countOthers()
            }
        }
        var left: [String] = []
        // A run may end before what it starts has a group of its own: half of all runs tell, and not each batch.
        if 2 * daemons >= runs {
            left.append("\(daemons) processes that have a group of their own, in \(runs) runs,")
        }
        let own = files.least - files.others
        // Where others make as many, chance decides.
        if own > size / 2, files.others <= size / 2 {
            left.append("\(own) files such as \(files.example), in \(size) runs,")
        }
        guard left.isEmpty else {
            throw Broken(
                """
                \(left.joined(separator: " and ")) are left behind; end what it starts and remove what it makes before it \
                exits, also on SIGTERM
                """
            )
        }
        guard files.least <= size / 2 else {
            throw Unchecked(
                reason: """
                    other processes make files such as \(files.example), also while it does not run, so that those of the \
                    program cannot be told; check it while they rest
                    """
            )
        }
        return "nothing left behind by \(size * (Self.batches + 1)) runs"
    }

    private func cycle(_ count: Int) async throws {
        for number in 0..<count {
            try Task.checkCancellation()
            let run = BackendRun(try self.makeMonitor(), clock: ThreadClock.shared)
            // Some end before their first report.
            if number % 10 != 9 { try await self.first(of: run) }
            try await self.end(run)
        }
    }

    /// What the process holds once threads that have ended are gone, or do not go.
    private func settled(below earlier: ProgramHoldings) async throws -> ProgramHoldings {
        var now = ProgramHoldings.ofThisProcess()
        for _ in 0..<25 where now.holdsMore(than: earlier) {
            try await Task.sleep(for: .milliseconds(20))
            now = .ofThisProcess()
        }
        return now
    }
}
