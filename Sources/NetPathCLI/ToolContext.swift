// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Synchronization

/// The least that a message has to matter to be shown; a new configuration may change it.
final class LogThreshold: Sendable {
    private let state: Mutex<LogLevel>

    init(_ level: LogLevel) {
        self.state = Mutex(level)
    }

    /// The level now.
    var level: LogLevel {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }
}

/// What a command gets from the process it runs in.
///
/// ArgumentParser makes the commands itself, so the context reaches them as a task-local value.
package struct ToolContext: Sendable {
    /// The context of the running command.
    @TaskLocal package static var current = ToolContext()

    /// The types of backends that a configuration can name.
    var registry: BackendRegistry = .builtIn
    /// What the program is made of.
    package var facts = BuildFacts.netpath
    /// The environment variables.
    package var environment: [String: String] = processEnvironment()
    /// Whether standard output is a terminal.
    package var isTerminal = StandardStreams.isOutputTerminal
    /// The columns of that terminal.
    package var columns = StandardStreams.size?.columns
    /// Writes data to standard output; a reader that went away is no error.
    package var write: @Sendable (String) throws -> Void = { text in
        do throws(SystemError) {
            try StandardStreams.writeOutput(text)
        } catch {
            if !error.isReaderGone { throw error }
        }
    }
    /// Writes a message to standard error.
    package var message: @Sendable (String) -> Void = { StandardStreams.writeMessage($0 + "\n") }
    /// Writes a message to standard error unless its reader would have to be waited for.
    package var note: @Sendable (String) -> Void = { StandardStreams.writeNote($0 + "\n") }

    /// The words after the program's name.
    var arguments: [String] = []
    /// Carries out a command about requests: another program does.
    package var requests: @Sendable (any RequestCommand) throws -> ToolStatus = executeQueueProgram

    /// A receiver of log messages that passes on what matters enough.
    func log(from threshold: LogThreshold) -> @Sendable (LogLevel, String) -> Void {
        { [note = self.note] level, text in
            if level >= threshold.level { note("netpath: \(level.rawValue): \(text.safe)") }
        }
    }
}
