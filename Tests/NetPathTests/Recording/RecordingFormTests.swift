// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem
import Testing

@testable import NetPath
@testable import NetPathRecording

/// Recordings of every version stay readable: Tests/Fixtures/Recording/form-N.jsonl has what version N can write, and never
/// loses a line.
///
/// - A renamed member or case keeps the name that it has in the file (`CodingKeys`).
/// - A new member is optional, or has a value where a recording lacks it, and is added to the fixture by hand.
/// - A change that older programs must not read raises ``RecordingHeader/format``, and begins another fixture.
@Suite struct RecordingFormTests {
    private static func lines(of form: Int) throws -> [ArraySlice<UInt8>] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/Recording/form-\(form).jsonl")
        return Array(try Data(contentsOf: file)).split(separator: UInt8(ascii: "\n"))
    }

    @Test(arguments: 1...RecordingHeader.format)
    func everyVersionIsReadAndReplayed(form: Int) throws {
        var (reader, writer) = (RecordingReader(), RecordingWriter(RecordingHeader(netpath: "0")))
        var (kinds, keys): (Set<String>, Set<String>) = ([], [])
        var (paths, recorded): ([PathStatus], [PathStatus]) = ([], [])
        var (replay, isFirstLife): (CoordinatorReplay?, Bool) = (nil, true)
        for line in try Self.lines(of: form) {
            let events = try reader.read(line)
            #expect(reader.damagedLines == 0, "cannot be read: \(String(decoding: line.prefix(200), as: UTF8.self))")
            for event in events {
                kinds.insert(Mirror(reflecting: event.kind).children.first?.label ?? "\(event.kind)")
                for bytes in try writer.line(of: event).split(separator: UInt8(ascii: "\n")) {
                    if case .object(let members) = try JSONReader.read(bytes, valueLimit: .max) {
                        keys.formUnion(members.keys)
                    }
                }
                switch event.kind {
                case .checkpoint(let checkpoint, false): replay = CoordinatorReplay(from: checkpoint)
                case .input(let input):
                    let more = replay?.take(input, at: event.time).map(\.status) ?? []
                    if isFirstLife { paths += more }
                case .path(let path): if isFirstLife { recorded.append(path.status) }
                case .gap: isFirstLife = false
                case .header, .checkpoint, .clock, .end: break
                }
            }
        }
        #expect(kinds == ["header", "checkpoint", "input", "path", "clock", "gap", "end"])
        #expect(try keys == Self.names(of: form))
        #expect(paths == recorded && recorded == [.satisfied, .unsatisfied, .unsatisfied, .satisfied])
    }

    /// The names of what its lines hold.
    private static func names(of form: Int) throws -> Set<String> {
        Set(
            try Self.lines(of: form).flatMap { line -> [String] in
                guard case .object(let members) = try JSONReader.read(line, valueLimit: .max) else { return [] }
                return members.map(\.key)
            }
        )
    }

    /// What is read and written again has the members, the cases and the values that it had.
    @Test func whatIsWrittenHasTheNamesOfTheFixture() throws {
        for (number, line) in try Self.lines(of: RecordingHeader.format).enumerated() {
            let node = try JSONReader.read(line, valueLimit: .max)
            for (key, value) in try Self.values(of: node) {
                let (old, new) = (Self.leaves(of: value.node), Self.leaves(of: try NodeEncoder.node(of: value.value)))
                #expect(old == new, "\(key) of line \(number + 1): \(old.symmetricDifference(new).sorted())")
            }
        }
    }

    /// Every member of what is recorded is set somewhere in the fixture, and nothing that has a value is left out.
    @Test func theFixtureHasEverything() throws {
        var form = Form()
        for line in try Self.lines(of: RecordingHeader.format) {
            for (_, value) in try Self.values(of: try JSONReader.read(line, valueLimit: .max)) {
                try form.walk(value.value)
            }
        }
        #expect(form.all.count > 200)
        let missing = form.all.subtracting(form.seen).sorted()
        #expect(missing.isEmpty, "in no line of form-\(RecordingHeader.format).jsonl, add it: \(missing)")
    }

    private typealias Coded = (node: JSONNode, value: any Encodable)

    /// What stands in a line, as it is and decoded; of evidence, that which stands whole.
    private static func values(of line: JSONNode) throws -> [(key: String, Coded)] {
        func value<Value: Codable>(_ key: String, _: Value.Type) throws -> [(key: String, Coded)] {
            try line[key].map { [(key, ($0, try NodeDecoder.value(Value.self, from: $0)))] } ?? []
        }
        var values = try value(RecordingKey.header, RecordingHeader.self)
        values += try value(RecordingKey.checkpoint, CoordinatorCheckpoint.self)
        values += try value(RecordingKey.input, CoordinatorInput.self)
        values += try value(RecordingKey.path, RecordedPath.self)
        values += try value(RecordingKey.report, RecordedReport.self)
        if case .array(let whole)? = line["evidence"], let node = whole.first {
            values.append(("evidence", (node, try NodeDecoder.value(Evidence.self, from: node))))
        }
        return values
    }

    /// Every value with the names that lead to it; the order in lists does not count, as that of sets is random.
    private static func leaves(of node: JSONNode, at path: String = "") -> Set<String> {
        switch node {
        case .object(let members) where !members.keys.isEmpty:
            members.reduce(into: []) { $0.formUnion(Self.leaves(of: $1.value, at: "\(path).\($1.key)")) }
        case .array(let elements) where !elements.isEmpty:
            elements.reduce(into: []) { $0.formUnion(Self.leaves(of: $1, at: "\(path)[]")) }
        default: ["\(path)=\(node)"]
        }
    }
}

/// What types have, by looking at values of them: `Type.member` and `Type.case`.
private struct Form {
    private(set) var all: Set<String> = []
    private(set) var seen: Set<String> = []

    mutating func walk(_ value: Any) throws {
        guard let value = Self.content(of: value) else { return }
        let (mirror, type) = (Mirror(reflecting: value), type(of: value))
        switch mirror.displayStyle {
        case .enum:
            self.seen.insert("\(type).\(mirror.children.first?.label ?? "\(value)")")
            if let type = type as? any CaseIterable.Type { self.all.formUnion(Self.cases(of: type)) }
        case .struct, .class:
            // What is written as text or as a number has no members in the file.
            guard let value = value as? any Encodable, case .object(let members) = try NodeEncoder.node(of: value)
            else { return }
            let kept = mirror.children.filter { Self.content(of: $0.value) != nil }
            #expect(kept.count == members.keys.count, "\(type) is written as \(members.keys)")
            for child in mirror.children {
                let name = "\(type).\(child.label ?? "")"
                self.all.insert(name)
                guard let content = Self.content(of: child.value) else { continue }
                let inner = Mirror(reflecting: content)
                if inner.displayStyle != .collection || !inner.children.isEmpty { self.seen.insert(name) }
            }
        default: break
        }
        for child in mirror.children { try self.walk(child.value) }
    }

    private static func cases<Value: CaseIterable>(of type: Value.Type) -> [String] {
        type.allCases.map { "\(type).\($0)" }
    }

    /// A value without the optional, the property wrapper and the box around it; nil when there is none.
    private static func content(of value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.flatMap { Self.content(of: $0.value) } }
        let type = "\(type(of: value))"
        guard type.hasPrefix("EqualityIgnored<") || type.hasPrefix("Shared<") else { return value }
        return mirror.children.first.flatMap { Self.content(of: $0.value) }
    }
}
