// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Gathers what is wrong with one file while it is read.
package final class DiagnosticCollector {
    /// How many are kept: a hostile file must not make more.
    package static let limit = 100

    /// The file that is being read.
    package let source: ConfigurationSource

    private var diagnostics: [ConfigurationDiagnostic] = []
    /// What is doubtful, which refuses no file.
    package private(set) var warnings: [ConfigurationDiagnostic] = []
    private var omittedCount = 0
    /// The names of files that are of a newer version, whose unknown keys are doubtful and not wrong.
    package var newerFiles: Set<String> = []

    /// Creates a collector without diagnostics.
    package init(source: ConfigurationSource) {
        self.source = source
    }

    /// Records a diagnostic, once: a value that is asked for twice is still wrong only once.
    ///
    /// - Parameter diagnostic: The diagnostic; beyond the limit it is only counted and never even made.
    package func record(_ diagnostic: @autoclosure () -> ConfigurationDiagnostic) {
        guard diagnostics.count < Self.limit else {
            omittedCount += 1
            return
        }
        let new = diagnostic()
        if !diagnostics.contains(new) { diagnostics.append(new) }
    }

    /// Records a warning, once.
    package func warn(_ warning: ConfigurationDiagnostic) {
        if warnings.count < Self.limit, !warnings.contains(warning) { warnings.append(warning) }
    }

    /// Everything recorded so far, `nil` when nothing is wrong.
    package var error: ConfigurationError? { ConfigurationError(diagnostics, omittedCount: omittedCount) }
}

@available(*, unavailable)
extension DiagnosticCollector: Sendable {}
