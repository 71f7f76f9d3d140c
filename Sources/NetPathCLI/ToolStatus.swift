// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What the process tells its caller; one table for all commands.
enum ToolStatus: Int32, Hashable, Sendable, CaseIterable {
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
    /// No backend has an opinion (EX_UNAVAILABLE).
    case noOpinion = 69
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
            case nil: .noOpinion
            }
    }

    /// The table for `--help`.
    static let help = """
        EXIT STATUS:
          0   satisfied: there is a path; or the command did what it should
          1   unsatisfied: there is none
          2   requiresConnection: a step is pending or can be started
          3   timed out
          64  wrong usage
          69  no backend has an opinion
          70  any other error
          78  bad configuration
        """
}
