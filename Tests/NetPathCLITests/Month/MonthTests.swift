// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import NetPathRecording

/// A vehicle's life in minutes: NETPATH_VEHICLE_DAYS (3) days of 334 changes, with a sleep each night, reboots and kills.
///
/// What is recorded has to be what was done, and memory and disk stay what they are. Memory is compared in 30 days or more, which
/// have a process of their own.
@Suite struct MonthTests {
    private static let days = ProcessInfo.processInfo.environment["NETPATH_VEHICLE_DAYS"].flatMap { Int($0) }
    private static let changesPerDay = 334
    private static let day: Int64 = 86_400_000_000_000
    private static let origin: Int64 = 1_790_000_000_000_000_000

    @Test func historyIsWhatWasDone() async throws {
        // Everything is brought to the disk every 90 s, and how fast that is says nothing here.
        let memory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
        let folder = try TemporaryDirectory(in: memory)
        var life = try await VehicleLife(in: folder["recording"], seed: 1, at: Self.origin)
        let days = Self.days ?? 3
        var resident: [Int] = []
        for day in 0..<days {
            let begin = Self.origin + Int64(day) * Self.day
            try await life.day(day, changes: Self.changesPerDay, until: begin + Self.day)
            try self.compare(life, from: begin, in: folder["recording"])
            try self.compareMoments(life, from: begin, in: folder["recording"])
            self.compareMetrics(life)
            #expect(try self.size(of: folder["recording"]) <= RecordingStore.folderLimit)
            // What is read at a time is a file, and the first ones are not as large as files become.
            if RecordingStore.files(in: folder["recording"]).count > 1 { resident.append(try self.residentKiB()) }
        }
        // All that is left, which is everything unless the oldest had to go.
        try self.compare(life, from: nil, in: folder["recording"])
        let size = try self.size(of: folder["recording"])
        let growth = (resident.max() ?? 0) - (resident.first ?? 0)
        print(
            "\(days) days: \(life.log.entries.count) periods, \(life.changes) changes, \(life.programs) programs, "
                + "\(size >> 10) KiB of files, \(resident.first ?? 0) KiB resident, \(growth) KiB more in the "
                + "\(resident.count) days since the first file was full"
        )
        if days >= 30 { #expect(resident.count >= 10 && growth <= 1_024, "\(resident) KiB") }
    }

    /// The history of a time, read as `history` does, is what was done in it.
    private func compare(_ life: VehicleLife, from begin: Int64?, in folder: String) throws {
        let now = life.service.clocks.now
        life.service.recorder?.flush()
        var history = PathHistory()
        let damaged = try Recording(folder).read(.paths, since: begin) { event in
            history.take(event)
            return true
        }
        #expect(damaged == 0)
        history.close(at: now)
        let periods = history.within(begin ?? .min, now.wallNanoseconds).filter { $0.length > .zero }
        let first = try #require(periods.first).begin
        let done = life.log.within(max(first, begin ?? first), now.wallNanoseconds)
        #expect(begin == nil || first == begin || done.first?.begin == life.log.entries.first?.begin)
        #expect(periods.count == done.count)
        for (period, done) in zip(periods, done)
        where period.begin != done.begin || period.end != done.end || !done.content.agrees(with: period.content) {
            Issue.record("told \(period), and done was \(done)")
            break
        }
        let sum = Availability(periods)
        let lengths = { (isCounted: (VehicleLog.Content) -> Bool) in
            Duration.nanoseconds(done.filter { isCounted($0.content) }.map { $0.end - $0.begin }.reduce(0, +))
        }
        #expect(sum.down.total == lengths(\.isDown))
        #expect(sum.unknown == lengths { if case .state = $0 { false } else { true } })
        let outages = done.indices.filter { index in
            done[index].content.isDown && (index == 0 || !done[index - 1].content.isDown)
        }
        #expect(sum.down.count == outages.count)
    }

    /// What `history --at` says of some moments.
    private func compareMoments(_ life: VehicleLife, from begin: Int64, in folder: String) throws {
        var numbers = SeededGenerator(seed: UInt64(begin))
        let end = life.service.clocks.now.wallNanoseconds
        for _ in 0..<2 {
            let wall = Int64.random(in: begin..<end, using: &numbers)
            guard case .state(let state)? = life.log.content(at: wall) else { continue }
            let moment = try #require(try Recording(folder).moment(at: wall))
            #expect(moment.missing == nil)
            #expect(moment.replay.path?.status == state.expected.status)
            #expect(moment.replay.path?.reason.code == state.expected.reason)
        }
    }

    private func compareMetrics(_ life: VehicleLife) {
        let tally = life.tallyNow()
        let metrics = life.service.metrics()
        #expect(metrics["netpath_paths_published_total"] == Double(tally.paths))
        for status in PathStatus.allCases {
            let label = "{status=\"\(status.rawValue)\"}"
            #expect(metrics["netpath_status_changes_total\(label)"] == Double(tally.changes[status] ?? 0))
            let told = metrics["netpath_status_seconds_total\(label)"] ?? .nan
            #expect(abs(told - (tally.time[status] ?? .zero) / .seconds(1)) < 1e-3)
        }
        for (reason, time) in tally.down {
            let told = metrics["netpath_down_seconds_total{reason=\"\(reason.rawValue)\"}"] ?? .nan
            #expect(abs(told - time / .seconds(1)) < 1e-3)
        }
        #expect(life.service.report.runCount == tally.hookRuns)
        #expect(life.service.report.failureCount == 0)
    }

    private func size(of folder: String) throws -> Int {
        try RecordingStore.files(in: folder).map {
            try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0
        }.reduce(0, +)
    }

    private func residentKiB() throws -> Int {
        let status = try #require(FileAccess.contents("/proc/self/status"))
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
