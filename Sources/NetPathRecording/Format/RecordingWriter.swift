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
    ///   - wallNanoseconds: The wall clock at its time.
    ///   - sleptNanoseconds: How long the machine has slept since it booted.
    ///   - continues: Whether it follows from the lines before, as at the beginning of a further file.
    ///   - path: The path there, which a history after a gap would not know otherwise.
    /// - Returns: The lines.
    /// - Throws: `EncodingError`.
    package mutating func begin(
        _ checkpoint: CoordinatorCheckpoint,
        wallNanoseconds: Int64,
        sleptNanoseconds: Int64? = nil,
        continues: Bool = false,
        path: NetworkPath? = nil
    ) throws -> [UInt8] {
        self.slept = sleptNanoseconds
        self.wallOffset = wallNanoseconds.subtractingSaturating(checkpoint.time.nanoseconds)
        var bytes: [UInt8] = []
        self.header.continues = continues
        try self.write(RecordingKey.header, self.header, at: checkpoint.time, withWall: true, to: &bytes)
        if let path { try self.write(RecordingKey.path, RecordedPath(path), at: checkpoint.time, to: &bytes) }
        try self.write(checkpoint, continues: continues, to: &bytes)
        return bytes
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
                try self.write(checkpoint, continues: true, to: &bytes)
                checkpointEnd = bytes.count
            case .published(let path):
                try self.write(RecordingKey.path, RecordedPath(path.value), at: entry.time, to: &bytes)
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
                try self.write(report, evidence, at: entry.time, to: &bytes)
                if case .published(let path)? = published?.event {
                    try self.write(RecordingKey.path, RecordedPath(path.value), at: entry.time, to: &bytes)
                }
            case .input(let input): try self.write(RecordingKey.input, input, at: entry.time, to: &bytes)
            }
        }
        self.sinceCheckpoint += bytes.count - checkpointEnd
        if let checkpoint { try self.write(checkpoint, continues: true, to: &bytes) }
        return bytes
    }

    /// The line that says that the program runs, and what time it is.
    ///
    /// - Parameters:
    ///   - now: A recent moment, the wall clock at it, and how long the machine had slept since it booted.
    ///   - time: The moment that the line is of; that of `now` where nil.
    /// - Returns: The line.
    package mutating func life(_ now: RecorderClocks, at time: MonotonicTime? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        self.wallOffset = now.wallNanoseconds.subtractingSaturating(now.time.nanoseconds)
        self.slept = now.sleptNanoseconds
        self.write([], at: time ?? now.time, withWall: true, to: &bytes)
        return bytes
    }

    /// The line of an event that was read.
    package mutating func line(of event: RecordedEvent) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let offset = event.wallNanoseconds.subtractingSaturating(event.time.nanoseconds)
        let isOther = offset != self.wallOffset
        self.wallOffset = offset
        self.slept = event.sleptNanoseconds
        func write(_ members: [JSONObject.Member], withWall: Bool? = nil) {
            self.write(members, at: event.time, withWall: withWall ?? isOther, to: &bytes)
        }
        switch event.kind {
        case .header(let header):
            self.header = header
            write([(RecordingKey.header, try NodeEncoder.node(of: header))], withWall: true)
        case .checkpoint(let checkpoint, let continues): try self.write(checkpoint, continues: continues, to: &bytes)
        case .input(.report(let id, let generation, let evidence)):
            // The line has no place for the time of day.
            if isOther { write([]) }
            try self.write(RecordedReport(backend: id, generation: generation), evidence, at: event.time, to: &bytes)
        case .input(let input): write([(RecordingKey.input, try NodeEncoder.node(of: input))])
        case .path(let path): write([(RecordingKey.path, try NodeEncoder.node(of: path))])
        case .clock: write([], withWall: true)
        case .gap(let reason): write([(RecordingKey.gap, .string(reason))])
        case .end: write([(RecordingKey.end, .bool(true))])
        }
        return bytes
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
        var bytes: [UInt8] = []
        if isBeginning {
            self.header.continues = false
            try self.write(RecordingKey.header, self.header, at: time, withWall: true, to: &bytes)
        }
        try self.write(RecordingKey.gap, reason, at: time, withWall: true, to: &bytes)
        return bytes
    }

    /// The last line.
    package func end(at time: MonotonicTime) -> [UInt8] {
        var bytes: [UInt8] = []
        self.write([(RecordingKey.end, .bool(true))], at: time, to: &bytes)
        return bytes
    }

    private mutating func write(
        _ checkpoint: CoordinatorCheckpoint,
        continues: Bool,
        to bytes: inout [UInt8]
    ) throws {
        self.evidence = [:]
        self.sinceCheckpoint = 0
        let node = try NodeEncoder.node(of: checkpoint)
        self.write(
            [(RecordingKey.checkpoint, node), (RecordingKey.continues, .bool(continues))],
            at: checkpoint.time,
            withWall: true,
            to: &bytes
        )
    }

    private mutating func write(
        _ report: RecordedReport,
        _ evidence: Evidence,
        at time: MonotonicTime,
        to bytes: inout [UInt8]
    ) throws {
        let node = try NodeEncoder.node(of: evidence)
        let patch = node.patch(from: self.evidence[report.backend] ?? .null)
        self.evidence[report.backend] = node
        var members: [JSONObject.Member] = [(RecordingKey.report, try NodeEncoder.node(of: report))]
        if let patch { members.append(("evidence", patch)) }
        self.write(members, at: time, to: &bytes)
    }

    private func write(
        _ key: String,
        _ value: some Encodable,
        at time: MonotonicTime,
        withWall: Bool = false,
        to bytes: inout [UInt8]
    ) throws {
        self.write([(key, try NodeEncoder.node(of: value))], at: time, withWall: withWall, to: &bytes)
    }

    private func write(
        _ members: [JSONObject.Member],
        at time: MonotonicTime,
        withWall: Bool = false,
        to bytes: inout [UInt8]
    ) {
        // First, where a reader finds them who looks for a moment (``RecordingLine``).
        var line: [JSONObject.Member] = [(RecordingKey.time, .integer(time.nanoseconds))]
        let clock = JSONNode.integer(time.nanoseconds.addingSaturating(self.wallOffset))
        if withWall { line.append((RecordingKey.wall, clock)) }
        line += members
        // Last, so that older versions find the rest where they expect it.
        if withWall, let slept { line.append((RecordingKey.slept, .integer(slept))) }
        bytes += JSONText.line(JSONNode.object(line).write)
    }
}
