// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Reads the lines of a recording, of which some may be damaged, or cut short by a crash.
package struct RecordingReader: Sendable {
    /// What is read of a recording.
    package enum Detail: Sendable {
        /// Paths, gaps, beginnings and ends: what a history needs.
        case paths
        /// Everything.
        case everything
    }

    /// A line of more bytes than this is taken for a damaged one.
    package static let lineLimit = 16 << 20

    /// How many lines could not be read; what follows one is left out up to the next checkpoint.
    package private(set) var damagedLines = 0
    private let detail: Detail
    private var wallOffset: Int64?
    private var slept: Int64?
    /// The last line that could be read.
    private var last: RecordedEvent?
    /// What a history has to be told of lines that cannot be read, when another one can: that nothing is known since.
    private var damage: RecordedEvent?
    /// Whether a history does not know the path, so that it needs the next checkpoint.
    private var isPathUnknown = false
    private var evidence: [Int: JSONNode] = [:]
    /// Whether something before is missing, so that only a checkpoint leads on.
    private var isLost = true
    /// When the last line was of that a history skips.
    private var skipped: MonotonicTime?

    package init(_ detail: Detail = .everything) {
        self.detail = detail
    }

    /// Reads one line, without its line feed.
    ///
    /// - Returns: What it says; empty for one that cannot be read.
    /// - Throws: ``RecordingError`` for a recording of a newer version.
    package mutating func read(_ line: ArraySlice<UInt8>) throws(RecordingError) -> [RecordedEvent] {
        if line.isEmpty { return [] }
        if line.count > Self.lineLimit {
            self.skipDamagedLine()
            return []
        }
        if case .paths = self.detail, self.isOfNoInterest(line) { return [] }
        do {
            let sign = self.takeSkipped()
            let events = try self.events(try JSONReader.read(line, valueLimit: .max))
            self.last = events.last ?? self.last
            guard case .paths = self.detail, let first = events.first else { return sign + events }
            return self.takeDamage(before: first) + sign + events
        } catch let error as RecordingError {
            throw error
        } catch {
            self.skipDamagedLine()
            return []
        }
    }

    /// Takes a line that cannot be read.
    mutating func skipDamagedLine() {
        self.damagedLines += 1
        switch self.detail {
        case .everything: self.isLost = true
        case .paths:
            guard self.damage == nil, var last else { break }
            last.kind = .gap("the recording is damaged")
            self.damage = last
        }
    }

    /// What a history is told of damaged lines when the next one can be read.
    private mutating func takeDamage(before event: RecordedEvent) -> [RecordedEvent] {
        defer { self.damage = nil }
        switch event.kind {
        case .path, .gap, .end: self.isPathUnknown = false
        // The end of one that was killed may be half a line: that it was killed says more.
        case .header(let header) where !header.continues:
            self.isPathUnknown = false
            return []
        case .header, .checkpoint, .input, .clock: self.isPathUnknown = self.isPathUnknown || self.damage != nil
        }
        return self.damage.map { [$0] } ?? []
    }

    /// Whether a line is one that a history skips, as most are such.
    private mutating func isOfNoInterest(_ line: ArraySlice<UInt8>) -> Bool {
        guard let head = RecordingLine(line), let key = head.key,
            [RecordingKey.report, RecordingKey.input, RecordingKey.checkpoint].contains(key)
        else { return false }
        let isPathUnknown = self.isPathUnknown || self.damage != nil
        guard key != RecordingKey.checkpoint || !isPathUnknown else { return false }
        // A checkpoint tells the time of day.
        if let wall = head.wall { self.wallOffset = wall.subtractingSaturating(head.time) }
        self.skipped = MonotonicTime(nanoseconds: head.time)
        return true
    }

    /// That the program was there when something happened that was skipped.
    package mutating func takeSkipped() -> [RecordedEvent] {
        guard let time = self.skipped.take(), let wallOffset else { return [] }
        let wall = time.nanoseconds.addingSaturating(wallOffset)
        let event = RecordedEvent(time: time, wallNanoseconds: wall, kind: .clock, sleptNanoseconds: self.slept)
        self.last = event
        return [event]
    }

    private mutating func events(_ node: JSONNode) throws -> [RecordedEvent] {
        guard case .integer(let nanoseconds)? = node[RecordingKey.time],
            nanoseconds.magnitude < MonotonicTime.codedLimit.magnitude
        else { throw MalformedLine() }
        let time = MonotonicTime(nanoseconds: nanoseconds)
        if case .integer(let wall)? = node[RecordingKey.wall] {
            self.wallOffset = wall.subtractingSaturating(nanoseconds)
        }
        guard let wallOffset else { throw MalformedLine() }
        if node[RecordingKey.header] != nil { self.slept = nil }
        if case .integer(let nanoseconds)? = node[RecordingKey.slept] { self.slept = nanoseconds }
        let slept = self.slept
        func event(_ kind: RecordedEvent.Kind, at time: MonotonicTime = time) -> RecordedEvent {
            RecordedEvent(
                time: time,
                wallNanoseconds: time.nanoseconds.addingSaturating(wallOffset),
                kind: kind,
                sleptNanoseconds: slept
            )
        }
        if let header = node[RecordingKey.header] {
            if case .integer(let format)? = header["recording"], format > RecordingHeader.format {
                throw RecordingError.newer(Int(clamping: format))
            }
            return [event(.header(try NodeDecoder.value(from: header)))]
        }
        if let reason = node[RecordingKey.gap] {
            self.isLost = true
            return [event(.gap(try NodeDecoder.value(from: reason)))]
        }
        if node[RecordingKey.end] != nil { return [event(.end)] }
        if let path = node[RecordingKey.path] { return [event(.path(try NodeDecoder.value(from: path)))] }
        if let checkpoint = node[RecordingKey.checkpoint] {
            let continues = node[RecordingKey.continues] == .bool(true) && !self.isLost
            self.evidence = [:]
            self.isLost = false
            let state: CoordinatorCheckpoint = try NodeDecoder.value(from: checkpoint)
            if case .paths = self.detail { return state.path.map { [event(.path(RecordedPath($0)))] } ?? [] }
            return [event(.checkpoint(state, continues: continues))]
        }
        let (report, input) = (node[RecordingKey.report], node[RecordingKey.input])
        // The time of day stands for itself, as paths do.
        if report == nil, input == nil { return [event(.clock)] }
        guard !self.isLost else { return [] }
        if let report {
            return try self.report(report, node["evidence"]) { event($0, at: $1 ?? time) }
        }
        return [event(.input(try NodeDecoder.value(from: input ?? .null)))]
    }

    private mutating func report(
        _ node: JSONNode,
        _ patch: JSONNode?,
        event: (RecordedEvent.Kind, MonotonicTime?) -> RecordedEvent
    ) throws -> [RecordedEvent] {
        let report: RecordedReport = try NodeDecoder.value(from: node)
        let (id, generation) = (report.backend, report.generation)
        let known = self.evidence[id] ?? .null
        let whole = patch.map { known.patched(by: $0) } ?? known
        self.evidence[id] = whole
        let evidence: Evidence = try NodeDecoder.value(from: whole)
        var events = [event(.input(.report(backend: id, generation: generation, evidence: evidence)), nil)]
        if let held = report.held, let released = report.released {
            events.append(event(.input(.held(backend: id, generation: generation)), held))
            events.append(event(.input(.released(backend: id, generation: generation)), released))
        }
        return events
    }
}

/// A line that is JSON, and none of a recording.
private struct MalformedLine: Error {}

/// Why a recording cannot be read.
package enum RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is of a version of the format that this program does not know.
    case newer(Int)
    /// There is nothing in it that can be read.
    case empty(String)

    package var description: String {
        switch self {
        case .newer(let format):
            "the recording has version \(format) of the format, and this netpath reads versions up to "
                + "\(RecordingHeader.format): use a newer netpath"
        case .empty(let name): "\(name) holds no recording of netpath"
        }
    }
}
