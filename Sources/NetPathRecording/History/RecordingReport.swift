// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// A report for a person who looks into a fault: a text of sections, of which the last may be a recording.
///
/// Whatever reads recordings reads that section of a report.
package enum RecordingReport {
    /// How the first line begins.
    package static let firstLine = "netpath report 1"
    /// The name of the section that is a recording.
    package static let section = "recording"

    /// The line above a section.
    package static func heading(_ section: String) -> String { "== \(section) ==" }

    /// The lines of a recording in the bytes of a file, which may be a report.
    package static func recording(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        guard bytes.starts(with: self.firstLine.utf8) else { return bytes[...] }
        var rest = bytes[...]
        let heading = Array(self.heading(self.section).utf8)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let isHeading = rest[..<end].elementsEqual(heading)
            rest = rest[(end + 1)...]
            if isHeading { return rest }
        }
        return []
    }

    /// Which of the lines of a file are those of a recording.
    struct Place {
        /// Whether they are still to come; nil before the first line, which tells whether the file is a report.
        private var isAhead: Bool?

        /// Takes the next line; returns whether it is one of a recording.
        mutating func isOfRecording(_ line: LineBuffer.Line) -> Bool {
            let bytes: ArraySlice<UInt8> = if case .whole(let bytes) = line { bytes } else { [] }
            let isAhead = self.isAhead ?? bytes.starts(with: RecordingReport.firstLine.utf8)
            self.isAhead = isAhead && !bytes.elementsEqual(RecordingReport.heading(RecordingReport.section).utf8)
            return !isAhead
        }
    }

    /// A text whose lines cannot be taken for headings.
    package static func body(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("== ") ? " \($0)" : "\($0)" }.joined(separator: "\n")
    }
}
