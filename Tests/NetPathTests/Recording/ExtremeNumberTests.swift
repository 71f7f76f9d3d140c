// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// Numbers in a recording that no writer writes: they are read as damage, or taken, and end no program.
@Suite struct ExtremeNumberTests {
    private static let extremes: [JSONNode] =
        [Int64.max, .min, .max - 1, 1 << 62, 1 << 61, -1, 0, Int64(UInt32.max)].map(JSONNode.integer)
        + [.number(1e308), .number(-1e308), .string("18446744073709551615")]
    /// How many numbers are replaced in each recording besides its times: NETPATH_EXTREME_NUMBERS (16).
    private static let limit =
        ProcessInfo.processInfo.environment["NETPATH_EXTREME_NUMBERS"].flatMap(Int.init) ?? 16
    private let folder = ScratchFolder()

    /// Where a number stands in a value: the names on the way, positions of lists included.
    private static func numbers(in node: JSONNode, at path: [String] = []) -> [[String]] {
        switch node {
        case .integer, .number: [path]
        case .array(let elements):
            elements.enumerated().flatMap { self.numbers(in: $1, at: path + ["\($0)"]) }
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { self.numbers(in: $1, at: path + [$0]) }
        case .null, .bool, .string: []
        }
    }

    private static func replacing(_ path: ArraySlice<String>, in node: JSONNode, by number: JSONNode) -> JSONNode {
        guard let name = path.first else { return number }
        switch node {
        case .array(var elements):
            guard let position = Int(name) else { return node }
            elements[position] = self.replacing(path.dropFirst(), in: elements[position], by: number)
            return .array(elements)
        case .object(var members):
            members[name] = self.replacing(path.dropFirst(), in: members[name] ?? .null, by: number)
            return .object(members)
        default: return node
        }
    }

    /// A line with what a reader looks for at its beginning.
    private static func bytes(of line: JSONNode) -> [UInt8] {
        let names = [RecordingKey.time, RecordingKey.wall]
        let first = names.compactMap { name in line[name].map { (key: name, value: $0) } }
        return JSONText.line(JSONNode.object(first + line.members.filter { !names.contains($0.key) }).write)
    }

    /// Does with a recording all that commands do.
    private func use(_ bytes: [UInt8]) throws {
        let recording = try Recording(self.folder.file("recording", bytes))
        var replay: CoordinatorReplay?
        var history = PathHistory()
        try recording.read { event in
            history.take(event)
            if case .checkpoint(let checkpoint, _) = event.kind { replay = CoordinatorReplay(from: checkpoint) }
            if case .input(let input) = event.kind { _ = replay?.take(input, at: event.time) }
            return true
        }
        for wall in [Int64.max, .min] {
            history.close(at: wall)
            #expect(Availability(history.within(.min, .max)).known >= .zero)
            _ = try recording.moment(at: wall)
            _ = try recording.pathLines(since: wall, withMessages: true)
        }
        var paths = PathHistory()
        try recording.read(.paths) { event in
            paths.take(event)
            return true
        }
        var masking: Masking?
        _ = try recording.tail(limit: 1 << 16, masking: &masking)
    }

    @Test(arguments: 1...UInt64(2))
    func noneEndsAProgram(seed: UInt64) throws {
        var walk = MachineWalk(seed: seed)
        var writer = RecordingWriter(RecordingHeader(netpath: "0", boot: "b"))
        let wall: Int64 = 1_790_000_000_000_000_000
        var bytes = try writer.begin(walk.checkpoint, now: (walk.now, wall, 0))
        let now = (walk.now, wall, Int64(0))
        bytes += try writer.lines(of: walk.journal(of: 20), checkpoint: nil, now: now)
        bytes += try writer.lines(of: [], checkpoint: walk.checkpoint, now: now)
        bytes += try writer.lines(of: walk.journal(of: 20), checkpoint: nil, now: now)
        bytes += writer.end(at: walk.now)
        let lines = try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONReader.read($0, valueLimit: .max) }
        var seen: Set<[String]> = []
        var changes: [(position: Int, path: [String], extreme: JSONNode)] = []
        for position in lines.indices {
            for path in Self.numbers(in: lines[position]) {
                // One of each kind: not every element of every list.
                guard seen.insert(path.map { Int($0) == nil ? $0 : "" }).inserted else { continue }
                changes += Self.extremes.map { (position, path, $0) }
            }
        }
        #expect(seen.count > 30)
        // Times are what everything is reckoned with: all of them, and as many of the rest as there is time for.
        var generator = SeededGenerator(seed: seed)
        let times = changes.filter { ["at", "wall", "observedAt"].contains($0.path.last) && $0.path.count < 3 }
        for change in times + changes.shuffled(using: &generator).prefix(Self.limit) {
            var changed = lines
            changed[change.position] = Self.replacing(change.path[...], in: lines[change.position], by: change.extreme)
            // A version of the format that this netpath does not read is told.
            do { try self.use(changed.flatMap(Self.bytes(of:))) } catch RecordingError.newer {}
        }
    }
}
