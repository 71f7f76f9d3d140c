// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A place in a text, as editors count it.
public struct SourcePosition: Sendable, Hashable {
    /// The line, counted from 1.
    public let line: Int

    /// The column, counted from 1 in Unicode scalars; a tab counts as one.
    public let column: Int

    /// Creates a position.
    ///
    /// - Parameters:
    ///   - line: The line, counted from 1.
    ///   - column: The column, counted from 1.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension SourcePosition: Comparable {
    /// Orders positions as they follow one another in the text.
    public static func < (first: SourcePosition, second: SourcePosition) -> Bool {
        (first.line, first.column) < (second.line, second.column)
    }
}

extension SourcePosition: CustomStringConvertible {
    /// The position as compilers write it, such as `4:15`.
    public var description: String { "\(line):\(column)" }
}
