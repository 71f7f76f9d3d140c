// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// What a report consists of.
struct Report {
    /// Its parts.
    private(set) var sections: [(name: String, text: String)] = []
    /// What puts something else in place of what is private; nil where nothing is.
    var masking: Masking?

    /// Adds what a function makes, masked, or why that is missing.
    mutating func add(_ name: String, _ make: (inout Masking?) throws -> String) {
        var text: String
        do {
            text = try make(&self.masking)
        } catch {
            text = self.masked("not available: \(self.reason(for: error))")
        }
        if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        self.sections.append((name, text))
    }

    /// Adds a text, of which nothing is masked yet.
    mutating func add(_ name: String, text: String) { self.add(name) { $0?.mask(text) ?? text } }

    private mutating func masked(_ text: String) -> String { self.masking?.maskProse(text) ?? text }

    private func reason(for error: any Error) -> String {
        if let failure = error as? ToolFailure { return failure.message }
        guard self.masking != nil, let error = error as? ConfigurationError else { return "\(error)" }
        // Messages, paths of keys and lines quote the file, and a secret may stand at any place in it.
        let places = error.diagnostics.map { "\($0.origin)\($0.position.map { ":\($0)" } ?? "")" }
        return "the configuration has errors, see 'netpath config check': \(places.joined(separator: ", "))"
    }

    /// The report; the recording, which is a section as it is, stands last.
    func text(head: String) -> String {
        var text = "\(RecordingReport.firstLine): \(head)\n"
        for section in self.sections {
            let isRecording = section.name == RecordingReport.section
            let body = isRecording ? section.text : RecordingReport.body(section.text)
            text += "\n" + RecordingReport.heading(section.name) + "\n" + body
        }
        return text
    }

    // MARK: What it contains

    /// Says what it contains before it is written.
    func screen(_ style: TextStyle, file: String) -> String {
        var screen = TextScreen(style)
        let bytes = self.sections.reduce(0) { $0 + $1.text.utf8.count }
        screen.title("Report", .strong, "\(Self.size(bytes)) for \(file)")
        screen.heading("Sections")
        for section in self.sections { screen.row(section.name, [Self.size(section.text.utf8.count)]) }
        screen.heading("Masked")
        guard let masking else {
            screen.paragraph("Nothing: it shows addresses, names and everything else as they are.")
            return screen.text
        }
        let counts = masking.counts
        let named = Masking.Kind.allCases.filter { counts[$0, default: 0] > 0 }
        for kind in named { screen.paragraph("\(kind.rawValue): \(counts[kind, default: 0])", bullet: "- ") }
        if named.isEmpty { screen.paragraph("Nothing private was found.") }
        screen.paragraph("Names of interfaces, drivers and backends stay. Read the file before you send it.")
        return screen.text
    }

    /// The same for programs.
    func document(file: String, isWritten: Bool) -> JSONNode {
        var masked = JSONNode.null
        if let counts = self.masking?.counts {
            masked = .object(
                Masking.Kind.allCases.map { kind in
                    (key: "\(kind)", value: .integer(counts[kind, default: 0]))
                }
            )
        }
        let sections = self.sections.map { section -> JSONNode in
            ["name": .string(section.name), "bytes": .integer(section.text.utf8.count)]
        }
        return [
            "schema": schemaVersion,
            "file": .string(file),
            "written": .bool(isWritten),
            "sections": .array(sections),
            "masked": masked,
        ]
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 10_000 ? "\(bytes) bytes" : "\((bytes + 512) / 1024) KiB"
    }
}
