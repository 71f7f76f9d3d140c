// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What the process tells its caller; one table for all commands.
package enum ToolStatus: Int32, Hashable, Sendable, CaseIterable {
    /// Yes, or done.
    case satisfied = 0
    /// No.
    case unsatisfied = 1
    /// Not now, but a step is pending or can be started.
    case requiresConnection = 2
    /// What was waited for did not come in time.
    case timedOut = 3
    /// The command line is wrong (EX_USAGE of `sysexits.h`, as ArgumentParser has it).
    case usage = 64
    /// No backend has a verdict, or what is asked is not there (EX_UNAVAILABLE).
    case unavailable = 69
    /// Anything else went wrong (EX_SOFTWARE).
    case failure = 70
    /// The configuration is wrong (EX_CONFIG).
    case badConfiguration = 78

    /// The answer to "is there a path?".
    init(_ path: NetworkPath?) {
        self =
            switch path?.status {
            case .satisfied: .satisfied
            case .requiresConnection: .requiresConnection
            case .unsatisfied: .unsatisfied
            case nil: .unavailable
            }
    }

    /// The answer to "do the backends agree?"; nil when none has a verdict.
    init(agreement: Bool?) {
        self = agreement.map { $0 ? .satisfied : .unsatisfied } ?? .unavailable
    }

    /// What the status tells.
    var meaning: String {
        switch self {
        case .satisfied:
            """
            yes: satisfied, there is a path; the host can be reached; the backends agree; the conditions are met; the \
            command succeeded
            """
        case .unsatisfied:
            """
            no: unsatisfied, there is no path; the host cannot be reached; the backends do not agree; 'wait --fail-fast' \
            found that nothing can come up; or a request was refused, given up, or is not there
            """
        case .requiresConnection: "requiresConnection: a step is pending, or can be started"
        case .timedOut:
            """
            timed out: 'wait --timeout' ended before the conditions were met; 'watch --timeout' before --count paths had \
            come; 'send --wait --timeout' before the response; or 'queue run --timeout' before the queue was empty
            """
        case .usage: "wrong usage"
        case .unavailable:
            """
            no backend has a verdict, or the name of the host is not found; there is no service ('hooks', '--service'), or \
            no recording ('history')
            """
        case .failure: "any other error"
        case .badConfiguration: "bad configuration, or one that can never meet what 'wait' waits for"
        }
    }

    /// The table for `--help`; ArgumentParser would continue long lines at the margin.
    package static let help =
        "EXIT STATUS:\n"
        + Self.allCases.map { "  \($0.padded)\($0.meaning.replacing("; ", with: ";\n      "))" }.joined(separator: "\n")

    private var padded: String {
        let digits = String(self.rawValue)
        return digits + String(repeating: " ", count: max(1, 4 - digits.count))
    }
}
