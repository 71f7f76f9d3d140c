// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathConfiguration
import NetPathSystem
import Synchronization

/// Shows messages for the operator that matter enough.
final class MessageLog: Sendable {
    private let state: Mutex<LogLevel>
    private let show: @Sendable (LogLevel, String) -> Void

    init(from level: LogLevel, show: @escaping @Sendable (LogLevel, String) -> Void) {
        self.state = Mutex(level)
        self.show = show
    }

    /// The least that a message has to matter to be shown; a new configuration may change it.
    var level: LogLevel {
        get { self.state.withLock { $0 } }
        set { self.state.withLock { $0 = newValue } }
    }

    /// Takes a message, on any thread.
    @Sendable func write(_ level: LogLevel, _ text: String) { if level >= self.level { self.show(level, text) } }
}

/// What a command gets from the process it runs in.
///
/// ArgumentParser makes the commands itself, so the context reaches them as a task-local value.
package struct ToolContext: Sendable {
    /// The context of the running command.
    @TaskLocal package static var current = ToolContext()

    /// What netpath itself is called.
    static let usualName = "netpath"

    /// What the program is called in its help and its messages.
    package var name = usualName
    /// The types of backends that a configuration can name.
    package var registry: BackendRegistry = .builtIn
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
            try StandardStream.output.write(text)
        } catch {
            if !error.isReaderGone { throw error }
        }
    }
    /// Writes a message to standard error.
    package var message: @Sendable (String) -> Void = { StandardStreams.writeMessage($0 + "\n") }
    /// Writes a message to standard error unless its reader would have to be waited for.
    package var note: @Sendable (String) -> Void = { StandardStreams.writeNote($0 + "\n") }

    /// Whether standard error is the journal of systemd.
    var isJournal = false

    /// The words after the program's name.
    var arguments: [String] = []
    /// Whether commands about requests can be carried out, and are worth a line in the help.
    package var offersRequests: @Sendable () -> Bool = { CompanionProgram.isQueueInstalled }
    /// Carries out a command about requests: another program does.
    package var requests: @Sendable (any RequestCommand) throws -> ToolStatus = { _ in
        try executeCompanion("netpath-queue")
    }
    /// Carries out a command that checks a backend: another program does.
    package var plugins: @Sendable (any PluginCommand) throws -> ToolStatus = { _ in
        try executeCompanion("netpath-plugin")
    }
    /// Serves pages and metrics: another program does.
    package var serve: @Sendable (ServeCommand) throws -> ToolStatus = { _ in
        try executeCompanion("netpath-serve")
    }
    /// The path of the program that watches, which is installed beside those that it executes; nil when it is not there.
    package var netpath: String? {
        CompanionProgram.installed(Self.usualName, environment: self.environment).place
    }

    /// Writes a message to standard error, after the program's name.
    package func say(_ text: String) { self.message("\(self.name): \(text)") }

    /// Messages on standard error, of a level or more.
    func log(from level: LogLevel) -> MessageLog {
        MessageLog(from: level) { level, text in self.note(self.line(level.priority, "\(level.rawValue): ", text)) }
    }

    /// Tells that the path is another one, whatever the threshold: as a warning where there is none, as a notice otherwise.
    func tell(_ text: String, of status: PathStatus) {
        self.note(self.line(status == .unsatisfied ? 4 : 5, "", text))
    }

    /// A message with its priority as the journal takes it, or as people read it.
    private func line(_ priority: Int, _ label: String, _ text: String) -> String {
        self.isJournal ? "<\(priority)>\(text.safe)" : "\(self.name): \(label)\(text.safe)"
    }
}

extension LogLevel {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        }
    }
}
