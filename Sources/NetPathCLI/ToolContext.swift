// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

/// What a command gets from the process it runs in.
///
/// ArgumentParser makes the commands itself, so the context reaches them as a task-local value.
struct ToolContext: Sendable {
    /// The context of the running command.
    @TaskLocal static var current = ToolContext()

    /// The types of backends that a configuration can name.
    var registry: BackendRegistry = .builtIn
    /// The environment variables.
    var environment: [String: String] = processEnvironment()
    /// Whether standard output is a terminal.
    var isTerminal = StandardStreams.isOutputTerminal
    /// The columns of that terminal.
    var columns = StandardStreams.size?.columns
    /// Writes data to standard output; a reader that went away is no error.
    var write: @Sendable (String) throws -> Void = { text in
        do throws(SystemError) {
            try StandardStreams.writeOutput(text)
        } catch {
            if !error.isReaderGone { throw error }
        }
    }
    /// Writes a message to standard error.
    var message: @Sendable (String) -> Void = { StandardStreams.writeMessage($0 + "\n") }
    /// Writes a message to standard error unless its reader would have to be waited for.
    var note: @Sendable (String) -> Void = { StandardStreams.writeNote($0 + "\n") }

    /// A receiver of log messages that passes on what matters enough.
    func log(from threshold: LogLevel) -> @Sendable (LogLevel, String) -> Void {
        { [note = self.note] level, text in
            if level >= threshold { note("netpath: \(level.rawValue): \(text.safe)") }
        }
    }
}
