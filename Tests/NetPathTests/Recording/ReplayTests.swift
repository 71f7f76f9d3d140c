// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// A recording replays to the paths that were published, whatever happened, and as far as it can be read.
@Suite struct ReplayTests {
    /// NETPATH_REPLAY_WALKS (8) walks of 250 inputs, or the one of NETPATH_WALK_SEED.
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["NETPATH_WALK_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...max(1, environment["NETPATH_REPLAY_WALKS"].flatMap(UInt64.init) ?? 8)
    }()

    private static let wall: Int64 = 1_790_000_000_000_000_000

    /// Three boots without a clock of their own, each of which learns the time later: a moment is found in the boot in which it
    /// lies, and the state is that of the moment.
    @Test func aMomentBeforeTheClockWasSet() throws {
        let folder = ScratchFolder()
        var bytes: [UInt8] = []
        var expected: [(wall: Int64, path: NetworkPath?)] = []
        for number in 0..<3 {
            var walk = MachineWalk(seed: 40 + UInt64(number))
            var writer = RecordingWriter(RecordingHeader(netpath: "0", boot: "b\(number)"))
            let wrong: Int64 = 0
            let right = Self.wall + Int64(number) * 3_600_000_000_000
            let begin = walk.now.nanoseconds
            bytes += try writer.begin(walk.checkpoint, now: (walk.now, begin + wrong, 0))
            for round in 0..<6 {
                let offset = round < 4 ? wrong : right
                let journal = walk.journal(of: 20)
                bytes += try writer.lines(
                    of: journal,
                    checkpoint: round == 1 ? walk.checkpoint : nil,
                    now: (walk.now, walk.now.nanoseconds + offset, 0)
                )
                if round == 2 { expected.append((walk.now.nanoseconds + right, walk.machine.path)) }
            }
        }
        let recording = try Recording(folder.file("set", bytes))
        for (wall, path) in expected {
            let moment = try #require(try recording.moment(at: wall))
            #expect(moment.missing == nil && !moment.isEnd)
            #expect(moment.replay.path.map { RecordedPath($0) } == path.map { RecordedPath($0) })
        }
        #expect(try recording.moment(at: Self.wall - 1) == nil)
    }

    /// The bytes of a walk that is recorded with a checkpoint now and then.
    private func recording(_ walk: inout MachineWalk, parts: Int = 5, steps: Int = 50) throws -> [UInt8] {
        var writer = RecordingWriter(RecordingHeader(netpath: "0", boot: "b"))
        var bytes = try writer.begin(walk.checkpoint, now: (walk.now, Self.wall, 0))
        let offset = Self.wall - walk.now.nanoseconds
        for part in 0..<parts {
            let entries = walk.journal(of: steps)
            bytes += try writer.lines(
                of: entries,
                checkpoint: part % 2 == 1 ? walk.checkpoint : nil,
                now: (walk.now, walk.now.nanoseconds + offset, 0)
            )
        }
        return bytes + writer.end(at: walk.now)
    }

    /// Replays what can be read.
    private func replay(_ bytes: [UInt8]) throws -> (paths: [NetworkPath], recorded: [RecordedPath], damaged: Int) {
        var reader = RecordingReader()
        var replay: CoordinatorReplay?
        var paths: [NetworkPath] = []
        var recorded: [RecordedPath] = []
        try Recording.forEachLine(of: bytes[...]) { line in
            for event in try reader.read(line) {
                switch event.kind {
                case .checkpoint(let checkpoint, let continues):
                    if !continues || replay == nil { replay = CoordinatorReplay(from: checkpoint) }
                case .input(let input): paths += replay?.take(input, at: event.time) ?? []
                case .path(let path): recorded.append(path)
                case .header, .clock, .gap, .end: break
                }
            }
            return true
        }
        return (paths, recorded, reader.damagedLines)
    }

    @Test(arguments: 0..<UInt64(4))
    func samePaths(part: UInt64) throws {
        for seed in Self.seeds where seed % 4 == part {
            var walk = MachineWalk(seed: seed)
            let (paths, recorded, damaged) = try self.replay(self.recording(&walk))
            #expect(damaged == 0)
            guard paths == walk.published, recorded == walk.published.map({ RecordedPath($0) }) else {
                Issue.record("seed \(seed), repeat with NETPATH_WALK_SEED=\(seed)")
                return
            }
            // What comparisons pass over is the same, too.
            #expect(try CodedLine.bytes(of: paths) == CodedLine.bytes(of: walk.published), "seed \(seed)")
        }
    }

    /// Every checkpoint is a place to begin at.
    @Test func fromEveryCheckpoint() throws {
        var walk = MachineWalk(seed: 11)
        let bytes = try self.recording(&walk)
        var starts: [Int] = []
        Recording.forEachLine(of: bytes[...]) { line in
            if RecordingLine(line)?.key == "checkpoint" { starts.append(line.startIndex) }
            return true
        }
        #expect(starts.count == 3)
        for start in starts {
            let paths = try self.replay(Array(bytes[start...])).paths
            #expect(Array(walk.published.suffix(paths.count)) == paths)
            #expect(!paths.isEmpty || start == starts.last)
        }
    }

    /// What happened in a storm, and is written at once, has places to begin at within.
    @Test func aStormHasCheckpointsWithin() throws {
        var walk = MachineWalk(seed: 4)
        let bytes = try self.recording(&walk, parts: 1, steps: 2_000)
        var starts: [Int] = []
        Recording.forEachLine(of: bytes[...]) { line in
            if RecordingLine(line)?.key == "checkpoint" { starts.append(line.startIndex) }
            return true
        }
        for (start, next) in zip(starts, starts.dropFirst() + [bytes.count]) {
            #expect(next - start < 2 * RecordingWriter.checkpointInterval)
            let paths = try self.replay(Array(bytes[start...])).paths
            #expect(Array(walk.published.suffix(paths.count)) == paths)
        }
    }

    @Test func cutAtEveryByte() throws {
        var walk = MachineWalk(seed: 3)
        let bytes = try self.recording(&walk, parts: 2, steps: 4)
        // Every byte of the last lines, and every part of all others.
        for count in bytes.indices where count > bytes.count - 700 || count % 61 == 0 {
            let cut = Array(bytes[..<count])
            let (paths, _, damaged) = try self.replay(cut)
            let isWhole = count == 0 || cut.last == UInt8(ascii: "\n") || bytes[count] == UInt8(ascii: "\n")
            #expect(damaged == (isWhole ? 0 : 1), "cut at \(count)")
            #expect(Array(walk.published.prefix(paths.count)) == paths, "cut at \(count)")
        }
    }

    @Test func damagedBytes() throws {
        var walk = MachineWalk(seed: 5)
        let bytes = try self.recording(&walk, parts: 4, steps: 20)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<25 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(
                    in: 0...255,
                    using: &generator
                )
            }
            // A number may have become another one; what counts is that nothing stops, and a newer version is told.
            do { _ = try self.replay(damaged) } catch is RecordingError {}
        }
    }

    /// After a line that cannot be read nothing is told until the next checkpoint.
    @Test func resumesAtACheckpoint() throws {
        var walk = MachineWalk(seed: 8)
        var bytes = try self.recording(&walk, parts: 4, steps: 30)
        let middle = bytes.count / 4
        let line = try #require(bytes[middle...].firstIndex(of: UInt8(ascii: "\n"))) + 1
        bytes[line] = UInt8(ascii: "x")
        let (paths, recorded, damaged) = try self.replay(bytes)
        #expect(damaged == 1)
        #expect(paths.count < walk.published.count)
        #expect(Array(recorded.suffix(1)) == walk.published.suffix(1).map { RecordedPath($0) })
        #expect(paths.last == walk.published.last)
    }

    @Test func unknownMembersAndNewerVersions() throws {
        var walk = MachineWalk(seed: 2)
        let text = String(decoding: try self.recording(&walk), as: UTF8.self)
        let richer = text.split(separator: "\n").map { $0.dropLast() + #","later":{"x":[1]}}"# }.joined(separator: "\n")
        #expect(try self.replay(Array(richer.utf8)).paths == walk.published)
        let newer = text.replacing(#""recording":1"#, with: #""recording":2"#)
        let error = #expect(throws: RecordingError.newer(2)) { try self.replay(Array(newer.utf8)) }
        #expect(error?.description.contains("use a newer netpath") == true)
    }

    /// What would have been with another policy, also from the middle on.
    @Test func whatIf() throws {
        let wired = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
        let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var machine = CoordinatorStateMachine(
            backends: [("a", .active), ("b", .active)],
            settings: CoordinatorSettings()
        )
        _ = machine.take(.start(once: false), now: start)
        _ = machine.take(.report(backend: 0, generation: 1, evidence: .noLink), now: start)
        _ = machine.take(.report(backend: 1, generation: 1, evidence: .online(wired)), now: start)
        #expect(machine.path?.status == .unsatisfied)
        let checkpoint = CoordinatorCheckpoint(time: start, machine: machine)
        #expect(CoordinatorReplay(from: checkpoint).path?.status == .unsatisfied)
        let any = CoordinatorReplay(from: checkpoint, settings: CoordinatorSettings(merge: .any))
        #expect(any.path?.status == .satisfied)
    }
}
