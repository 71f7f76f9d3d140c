// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem

/// What the clocks of a machine show at one moment: the one that stands still while it sleeps, the wall clock, and how
/// long it has slept since it booted.
package typealias RecorderClocks = (time: MonotonicTime, wallNanoseconds: Int64, sleptNanoseconds: Int64)

/// Makes the lines of a recording from the journal of a coordinator.
///
/// Each line is an object of JSON. Of evidence only what differs is written; at every checkpoint it begins anew, so that
/// a reader can begin there.
package struct RecordingWriter: Sendable {
    /// After so many bytes a reader wants another place to begin at.
    package static let checkpointInterval = 96 << 10

    /// Whether the next lines should be followed by a checkpoint.
    package var wantsCheckpoint: Bool { self.sinceCheckpoint >= Self.checkpointInterval }
    private var header: RecordingHeader
    private var sinceCheckpoint = 0
    private var wallOffset: Int64 = 0
    /// How long the machine has slept since it booted, in nanoseconds; nil when that is not measured.
    private var slept: Int64?
    /// The latest evidence of each backend.
    private var evidence: [Int: JSONNode] = [:]

    package init(_ header: RecordingHeader) {
        self.header = header
    }

    /// The lines at the beginning, or after a gap.
    ///
    /// - Parameters:
    ///   - checkpoint: The state there.
    ///   - now: A recent moment, the wall clock at it, and how long the machine had slept since it booted.
    ///   - continues: Whether it follows from the lines before, as at the beginning of a further file.
    ///   - path: The path there, which a history after a gap would not know otherwise.
    /// - Returns: The lines.
    /// - Throws: `EncodingError`.
    package mutating func begin(
        _ checkpoint: CoordinatorCheckpoint,
        now: RecorderClocks,
        continues: Bool = false,
        path: NetworkPath? = nil
    ) throws -> [UInt8] {
        self.set(now)
        self.header.continues = continues
        var bytes = try self.line(RecordingKey.header, self.header, at: checkpoint.time, withWall: true)
        if let path { bytes += try self.line(RecordingKey.path, RecordedPath(path), at: checkpoint.time) }
        bytes += try self.line(of: checkpoint, continues: continues)
        return bytes
    }

    private mutating func set(_ now: RecorderClocks) {
        self.slept = now.sleptNanoseconds
        self.wallOffset = now.wallNanoseconds.subtractingSaturating(now.time.nanoseconds)
    }

    /// Names another configuration in what follows.
    package mutating func setConfiguration(_ text: String?) { self.header.configuration = text }

    /// The lines of what happened.
    ///
    /// - Parameters:
    ///   - entries: What happened.
    ///   - checkpoint: The state after it; nil for none.
    ///   - now: A recent moment, the wall clock at it, and how long the machine had slept since it booted.
    /// - Returns: The lines.
    /// - Throws: `EncodingError`.
    package mutating func lines(
        of entries: [CoordinatorJournal.Entry],
        checkpoint: CoordinatorCheckpoint?,
        now: RecorderClocks
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let offset = now.wallNanoseconds.subtractingSaturating(now.time.nanoseconds)
        let asleep = now.sleptNanoseconds.subtractingSaturating(self.slept ?? now.sleptNanoseconds)
        if max(offset.subtractingSaturating(self.wallOffset).magnitude, asleep.magnitude) > RecordedClock.tolerance {
            bytes = self.life(now, at: entries.first?.time)
        }
        var position = 0
        // Where the latest checkpoint among them ends.
        var checkpointEnd = 0
        while position < entries.count {
            let entry = entries[position]
            position += 1
            switch entry.event {
            case .checkpoint(let checkpoint):
                guard self.sinceCheckpoint + bytes.count - checkpointEnd >= Self.checkpointInterval else { break }
                bytes += try self.line(of: checkpoint, continues: true)
                checkpointEnd = bytes.count
            case .published(let path):
                bytes += try self.line(RecordingKey.path, RecordedPath(path.value), at: entry.time)
            case .input(.report(let id, let generation, let evidence)):
                var report = RecordedReport(backend: id, generation: generation)
                // What was published by it stands before its subscribers were called.
                var next = position
                var published: CoordinatorJournal.Entry?
                if next < entries.count, case .published = entries[next].event {
                    published = entries[next]
                    next += 1
                }
                if next + 1 < entries.count,
                    case .input(.held(id, generation)) = entries[next].event,
                    case .input(.released(id, generation)) = entries[next + 1].event
                {
                    report.held = entries[next].time
                    report.released = entries[next + 1].time
                    position = next + 2
                } else {
                    published = nil
                }
                bytes += try self.line(of: report, evidence, at: entry.time)
                if case .published(let path)? = published?.event {
                    bytes += try self.line(RecordingKey.path, RecordedPath(path.value), at: entry.time)
                }
            case .input(let input): bytes += try self.line(RecordingKey.input, input, at: entry.time)
            }
        }
        self.sinceCheckpoint += bytes.count - checkpointEnd
        if let checkpoint { bytes += try self.line(of: checkpoint, continues: true) }
        return bytes
    }

    /// The line that says that the program runs, and what time it is.
    ///
    /// - Parameters:
    ///   - now: A recent moment, the wall clock at it, and how long the machine had slept since it booted.
    ///   - time: The moment that the line is of; that of `now` where nil.
    /// - Returns: The line.
    package mutating func life(_ now: RecorderClocks, at time: MonotonicTime? = nil) -> [UInt8] {
        self.set(now)
        return self.line([], at: time ?? now.time, withWall: true)
    }

    /// The line of an event that was read.
    package mutating func line(of event: RecordedEvent) throws -> [UInt8] {
        let offset = event.wallNanoseconds.subtractingSaturating(event.time.nanoseconds)
        let isOther = offset != self.wallOffset
        self.wallOffset = offset
        self.slept = event.sleptNanoseconds
        func line(_ members: [JSONObject.Member], withWall: Bool? = nil) -> [UInt8] {
            self.line(members, at: event.time, withWall: withWall ?? isOther)
        }
        switch event.kind {
        case .header(let header):
            self.header = header
            return line([(RecordingKey.header, try NodeEncoder.node(of: header))], withWall: true)
        case .checkpoint(let checkpoint, let continues): return try self.line(of: checkpoint, continues: continues)
        case .input(.report(let id, let generation, let evidence)):
            // The line has no place for the time of day.
            let clock = isOther ? line([]) : []
            let report = RecordedReport(backend: id, generation: generation)
            return try clock + self.line(of: report, evidence, at: event.time)
        case .input(let input): return line([(RecordingKey.input, try NodeEncoder.node(of: input))])
        case .path(let path): return line([(RecordingKey.path, try NodeEncoder.node(of: path))])
        case .clock: return line([], withWall: true)
        case .gap(let reason): return line([(RecordingKey.gap, .string(reason))])
        case .end: return line([(RecordingKey.end, .bool(true))])
        }
    }

    /// The lines that tell what is missing; a checkpoint has to follow.
    ///
    /// - Parameters:
    ///   - reason: Why it is missing.
    ///   - time: From when on.
    ///   - isBeginning: Whether nothing that this program wrote stands before.
    /// - Returns: The lines.
    /// - Throws: `EncodingError`.
    package mutating func gap(_ reason: String, at time: MonotonicTime, isBeginning: Bool = false) throws -> [UInt8] {
        let gap = try self.line(RecordingKey.gap, reason, at: time, withWall: true)
        guard isBeginning else { return gap }
        self.header.continues = false
        return try self.line(RecordingKey.header, self.header, at: time, withWall: true) + gap
    }

    /// The last line.
    package func end(at time: MonotonicTime) -> [UInt8] { self.line([(RecordingKey.end, .bool(true))], at: time) }

    private mutating func line(of checkpoint: CoordinatorCheckpoint, continues: Bool) throws -> [UInt8] {
        self.evidence = [:]
        self.sinceCheckpoint = 0
        let node = try NodeEncoder.node(of: checkpoint)
        return self.line(
            [(RecordingKey.checkpoint, node), (RecordingKey.continues, .bool(continues))],
            at: checkpoint.time,
            withWall: true
        )
    }

    private mutating func line(
        of report: RecordedReport,
        _ evidence: Evidence,
        at time: MonotonicTime
    ) throws -> [UInt8] {
        let node = try NodeEncoder.node(of: evidence)
        let patch = node.patch(from: self.evidence[report.backend] ?? .null)
        self.evidence[report.backend] = node
        var members: [JSONObject.Member] = [(RecordingKey.report, try NodeEncoder.node(of: report))]
        if let patch { members.append(("evidence", patch)) }
        return self.line(members, at: time)
    }

    private func line(
        _ key: String,
        _ value: some Encodable,
        at time: MonotonicTime,
        withWall: Bool = false
    ) throws -> [UInt8] {
        self.line([(key, try NodeEncoder.node(of: value))], at: time, withWall: withWall)
    }

    private func line(_ members: [JSONObject.Member], at time: MonotonicTime, withWall: Bool = false) -> [UInt8] {
        // First, where a reader finds them who looks for a moment (``RecordingLine``).
        var line: [JSONObject.Member] = [(RecordingKey.time, .integer(time.nanoseconds))]
        let clock = JSONNode.integer(time.nanoseconds.addingSaturating(self.wallOffset))
        if withWall { line.append((RecordingKey.wall, clock)) }
        line += members
        // Last, so that older versions find the rest where they expect it.
        if withWall, let slept { line.append((RecordingKey.slept, .integer(slept))) }
        return JSONText.line(JSONNode.object(line).write)
    }
}
