// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem

extension Recording {
    /// What was known at a moment.
    package struct Moment: Sendable {
        /// The coordinator as it was.
        package var replay: CoordinatorReplay
        /// The last thing that was recorded by then.
        package var last: RecordedEvent
        /// Why nothing is known of the moment itself; nil when it lies within what was recorded.
        package var missing: String?
        /// Whether nothing was recorded after it.
        package var isEnd = true
    }

    /// Finds what was known at a moment: the latest one that the wall clock showed so.
    ///
    /// - Parameter wall: Nanoseconds since 1970.
    /// - Returns: What was known; nil when nothing was recorded by then.
    /// - Throws: `SystemError` and ``RecordingError``.
    package func moment(at wall: Int64) throws -> Moment? {
        var boots = RecordedBoots()
        try self.read(.paths) { event in
            boots.take(event)
            return true
        }
        if boots.wereSet { return try self.moment(at: wall, in: boots) }
        var next: [UInt8]?
        for path in self.files.paths.reversed() {
            let bytes = try RecordingFiles.bytes(of: path)
            let lines = RecordingReport.recording(in: bytes)
            guard let start = Self.lastCheckpoint(in: lines, by: wall) else {
                next = bytes
                continue
            }
            var search = MomentSearch(wall: wall)
            try Self.forEachLine(of: lines[start...]) { try search.take($0) }
            // What follows is in the next file.
            if let next, search.moment?.isEnd == true {
                try Self.forEachLine(of: RecordingReport.recording(in: next)) { try search.take($0) }
            }
            return search.moment
        }
        return nil
    }

    /// The same where clocks were set, so that lines do not tell by themselves when they are of.
    private func moment(at wall: Int64, in boots: RecordedBoots) throws -> Moment? {
        guard let boot = boots.boot(at: wall) else { return nil }
        var search = MomentSearch(wall: wall, in: (boots, boot))
        var goesOn = true
        for path in self.files.paths where goesOn {
            let bytes = try RecordingFiles.bytes(of: path)
            try Self.forEachLine(of: RecordingReport.recording(in: bytes)) { line in
                goesOn = try search.take(line)
                return goesOn
            }
        }
        return search.moment
    }

    /// Where the last line begins of a checkpoint that was written by a moment.
    private static func lastCheckpoint(in lines: ArraySlice<UInt8>, by wall: Int64) -> Int? {
        var found: Int?
        Self.forEachLine(of: lines) { line in
            if let head = RecordingLine(line), head.key == RecordingKey.checkpoint, let time = head.wall, time <= wall {
                found = line.startIndex
            }
            return true
        }
        return found
    }
}

/// Reads on from a checkpoint until a moment is reached.
private struct MomentSearch {
    let wall: Int64
    private var found: Recording.Moment?
    private var reader = RecordingReader()
    private var damagedLines = 0
    private var isDamaged = false

    /// Where clocks were set, and which boot the moment lies in; nil where none was.
    private let target: (boots: RecordedBoots, boot: Int)?
    /// The boots up to the present line, and by how much their clocks were set so far.
    private var seen = RecordedBoots()

    init(wall: Int64, in target: (boots: RecordedBoots, boot: Int)? = nil) {
        self.wall = wall
        self.target = target
    }

    /// What was known at the moment.
    var moment: Recording.Moment? {
        var moment = self.found
        if self.isDamaged, moment?.missing == nil { moment?.missing = "the recording is damaged there" }
        return moment
    }

    /// Takes a line; returns whether the moment lies after it.
    mutating func take(_ line: ArraySlice<UInt8>) throws -> Bool {
        let events = try self.reader.read(line)
        if self.reader.damagedLines > self.damagedLines {
            self.damagedLines = self.reader.damagedLines
            self.isDamaged = true
        }
        for event in events.map({ self.dated($0) }) {
            if let target, self.seen.last < target.boot { continue }
            // The clock that was set back leads beyond the moment, and once more there.
            guard event.wallNanoseconds <= self.wall else {
                self.found?.isEnd = false
                if case .header(let header) = event.kind, !header.continues, self.found?.missing == nil {
                    self.found?.missing =
                        "netpath was killed, or the machine went down, at a time that is not recorded"
                }
                return false
            }
            self.take(event)
        }
        return true
    }

    /// An event with the time that its boot's clock, as it was set last, would have shown.
    private mutating func dated(_ event: RecordedEvent) -> RecordedEvent {
        guard let target else { return event }
        self.seen.take(event)
        var event = event
        let missing = target.boots.set(self.seen.last).subtractingSaturating(self.seen.set(self.seen.last))
        event.wallNanoseconds = event.wallNanoseconds.addingSaturating(missing)
        return event
    }

    private mutating func take(_ event: RecordedEvent) {
        switch event.kind {
        case .checkpoint(let checkpoint, let continues):
            if self.found == nil || !continues {
                self.found = Recording.Moment(replay: CoordinatorReplay(from: checkpoint), last: event)
            }
            self.found?.missing = nil
            self.isDamaged = false
        case .input(let input): _ = self.found?.replay.take(input, at: event.time)
        case .gap(let reason): self.found?.missing = reason
        case .end: self.found?.missing = "netpath had been stopped"
        case .header, .path, .clock: break
        }
        self.found?.last = event
    }
}
