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
        var last = try await self.settled(below: ProcessResources.now())
        var files = self.isProgram ? LeftFiles() : nil
        var least: ProcessResources?
        for _ in 0..<Self.batches {
            try await self.cycle(size)
            let now = try await self.settled(below: last)
            let growth = now - last
            least = least?.minimum(growth) ?? growth
            last = now
            files?.count()
        }
        guard let least else { return "" }
        if self.isProgram { return try self.judge(least, files, size) }
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
    private func judge(_ least: ProcessResources, _ files: LeftFiles?, _ size: Int) throws -> String {
        var left: [String] = []
        if least.processes > size / 20 { left.append("\(least.processes) processes") }
        if let files, files.least > size / 2 { left.append("\(files.least) files such as \(files.example)") }
        guard left.isEmpty else {
            throw Broken(
                """
                \(left.joined(separator: " and ")) are left behind by \(size) runs; end what it starts and remove what \
                it makes before it exits, also on SIGTERM
                """
            )
        }
        return "nothing left behind by \(size * (Self.batches + 1)) runs"
    }

    private func cycle(_ count: Int) async throws {
        for number in 0..<count {
            try Task.checkCancellation()
            let run = BackendRun(try self.makeMonitor(), clock: ThreadClock.shared)
            // Some end before their first word.
            if number % 10 != 9 { try await self.first(of: run) }
            try await self.end(run)
        }
    }

    /// What the process holds once threads that have ended are gone, or do not go.
    private func settled(below earlier: ProcessResources) async throws -> ProcessResources {
        var now = try self.present()
        for _ in 0..<25 where now.holdsMore(than: earlier) {
            try await Task.sleep(for: .milliseconds(20))
            now = try self.present()
        }
        return now
    }

    private func present() throws -> ProcessResources {
        // What a program left behind has become a child of this process; what has ended of it is no leak. No program
        // runs now whose status is still asked for.
        if self.isProgram { LabSystem.forgetEndedChildren() }
        return try ProcessResources.now()
    }
}
