// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What went wrong in the namespace lab.
///
/// Every case describes itself with the command or program, the reason, and where it helps, what to do.
public enum LabError: Error, Sendable, CustomStringConvertible {
    /// This machine does not let us make a network namespace.
    case unavailable(reason: String)

    /// A command inside the namespace ended with a status other than zero.
    case commandFailed(command: String, status: Int32, standardError: String)

    /// A command did not end in time; its namespace was destroyed, because its shell is stuck in the command.
    case commandTimedOut(command: String, after: Duration, standardError: String)

    /// The namespace's shell has ended, so nothing can be run there any more.
    case namespaceEnded(command: String, standardError: String)

    /// A program under test did not write the awaited line in time.
    case lineTimedOut(program: String, awaited: String, after: Duration, lastLine: String?, standardError: String)

    /// A program under test ended before it wrote the awaited line.
    case programEnded(program: String, awaited: String, lastLine: String?, standardError: String)

    /// A program under test had to be killed, because it did not end by itself in time.
    case programDidNotEnd(program: String, after: Duration, standardError: String)

    /// A program under test wrote a line that is not JSON.
    case malformedLine(program: String, line: String, reason: String)

    /// A system call of the lab's own plumbing failed.
    case systemCallFailed(call: String, reason: String)

    /// The lab was asked for something it cannot do.
    case invalidRequest(String)

    /// The complete explanation.
    public var description: String {
        switch self {
        case .unavailable(let reason):
            """
            No network namespace could be made: \(reason). It needs root, or unprivileged user namespaces \
            (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
            kernel.apparmor_restrict_unprivileged_userns; in a container: its seccomp profile), \
            and the packages util-linux and iproute2.
            """
        case .commandFailed(let command, let status, let standardError):
            "'\(command)' ended with status \(status)\(Self.quoting(standardError))"
        case .commandTimedOut(let command, let duration, let standardError):
            """
            '\(command)' did not end within \(duration) and its namespace was destroyed\
            \(Self.quoting(standardError))
            """
        case .namespaceEnded(let command, let standardError):
            """
            '\(command)' was not completed because the namespace has ended (closed, timed out before, or 'exit' was \
            run in it)\(Self.quoting(standardError))
            """
        case .lineTimedOut(let program, let awaited, let duration, let lastLine, let standardError):
            """
            \(program) did not write \(awaited) within \(duration); last line: \(lastLine ?? "none")\
            \(Self.quoting(standardError))
            """
        case .programEnded(let program, let awaited, let lastLine, let standardError):
            """
            \(program) ended before it wrote \(awaited); last line: \(lastLine ?? "none")\
            \(Self.quoting(standardError))
            """
        case .programDidNotEnd(let program, let duration, let standardError):
            "\(program) did not end within \(duration) and was killed\(Self.quoting(standardError))"
        case .malformedLine(let program, let line, let reason):
            "\(program) wrote a line that is not JSON (\(reason)): \(line)"
        case .systemCallFailed(let call, let reason):
            "\(call) failed: \(reason)"
        case .invalidRequest(let message):
            message
        }
    }

    private static func quoting(_ standardError: String) -> String {
        standardError.isEmpty ? "" : "; standard error: \(standardError)"
    }
}
