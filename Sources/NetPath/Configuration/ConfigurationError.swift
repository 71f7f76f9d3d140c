// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Everything that is wrong with a configuration, so that a person can mend it in one go.
public struct ConfigurationError: Error, Sendable, Hashable {
    /// What is wrong, text by text and each in its order; never empty.
    public let diagnostics: [ConfigurationDiagnostic]

    /// How many more there are than ``diagnostics`` holds.
    public let omittedCount: Int

    /// Creates an error from what is wrong, or nothing when nothing is wrong.
    ///
    /// - Parameters:
    ///   - diagnostics: What is wrong, in any order.
    ///   - omittedCount: How many more there are.
    package init?(_ diagnostics: [ConfigurationDiagnostic], omittedCount: Int = 0) {
        guard !diagnostics.isEmpty else { return nil }
        self.diagnostics = diagnostics.sorted(by: Self.isBefore)
        self.omittedCount = omittedCount
    }

    /// Creates an error of one diagnostic.
    package init(_ diagnostic: ConfigurationDiagnostic) {
        self.diagnostics = [diagnostic]
        self.omittedCount = 0
    }

    /// What concerns the whole file comes first; the message makes the order of equal places definite.
    private static func isBefore(_ first: ConfigurationDiagnostic, _ second: ConfigurationDiagnostic) -> Bool {
        guard first.origin == second.origin else { return first.origin < second.origin }
        let start = SourcePosition(line: 0, column: 0)
        let positions = (first.position ?? start, second.position ?? start)
        return positions.0 == positions.1 ? first.message < second.message : positions.0 < positions.1
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// All diagnostics, one below the other.
    public var description: String {
        var parts = diagnostics.map(\.description)
        if omittedCount > 0 { parts.append("and \(omittedCount) more errors") }
        return parts.joined(separator: "\n")
    }
}
