// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

/// Runs a program in any language that says what it sees of the network, one JSON object on each line of its output.
///
/// What the program writes is described in the article ExternalPlugins of NetPath; the output of another netpath
/// (`ssh router netpath watch --json`) will do. Whatever it does, it can only fail itself: it runs in a session of its own
/// with bounded memory, files and processes, gains no privileges, and is ended with everything in its process group when it
/// breaks the protocol, falls silent, or is not needed any more. Its failure ends the run with a sentence, and the
/// coordinator starts it again, later each time.
public struct ExecMonitor: PathMonitor {
    /// What a program speaks of.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
        /// This machine.
        case local
        /// Another machine: of what it says only the conclusion counts, as that of its host.
        case remote
    }

    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// The program and its arguments; no shell reads them.
        ///
        /// A program without a folder is looked for where the system keeps its programs. A privileged process executes only
        /// an absolute path every step of which is root's, and writable by no other user, scripts among the arguments alike.
        public var command: [String]
        /// Variables besides PATH, LANG, HOME, USER and LOGNAME; nil to pass on what this process has under the name.
        public var environment: [String: String?] = [:]
        /// The user that it runs as, by name; nil for that of this process, or the starting user's where the two differ.
        public var user: String?
        /// What it speaks of.
        public var scope = Scope.local
        /// What another machine is called; nil for what the program calls itself.
        public var host: String?
        /// How long its first line may take.
        public var helloDeadline: Duration = .seconds(5)
        /// How long it may be silent; nil for as long as its hello says, or else as it likes.
        public var heartbeat: Duration?
        /// The addresses that stand for the whole internet, which it is told.
        public var referenceDestinations = ReferenceRoute.defaultDestinations

        /// Creates options that are the default ones but for the command.
        public init(command: [String]) {
            self.command = command
        }

        /// What messages call the program.
        var title: String {
            let name = self.command.first?.split(separator: "/").last.map(String.init) ?? "plugin"
            return name.printable(limit: 60)
        }
    }

    let options: Options
    private(set) var observe: (@Sendable (PluginEvent) -> Void)?
    /// How long a plugin may take to end when asked, and again when told.
    private(set) var patience: Duration = .milliseconds(500)
    let counters = PluginCounters()

    /// Creates a monitor; nothing is started.
    public init(_ options: Options) {
        self.options = options
    }

    /// The same monitor, whose programs are observed: each line costs a call, so for their authors only.
    ///
    /// - Parameters:
    ///   - patienceFactor: How many times the usual time they have for their first line, and for their end.
    ///   - observe: What is called.
    /// - Returns: The monitor.
    package func observed(
        patienceFactor: Int = 1,
        by observe: @escaping @Sendable (PluginEvent) -> Void
    ) -> ExecMonitor {
        var options = self.options
        options.helloDeadline *= patienceFactor
        var monitor = ExecMonitor(options)
        monitor.patience = self.patience * patienceFactor
        monitor.observe = observe
        return monitor
    }

    /// Starting a program is too much to ask for one answer.
    public var reachesOut: Bool { true }

    private static let listenedTo =
        "is not started, because another netpath listens to this one, and they would start each other for ever"

    /// Runs the program until cancelled, on a thread of its own.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: Why the program could not be started, or was ended, as a sentence.
    public func run(_ context: MonitorContext) async throws {
        guard self.options.scope == .local || !Provenance.isListenedTo else {
            context.reportUnavailable(Self.listenedTo)
            for await _ in context.refreshRequests {
                context.reportUnavailable(Self.listenedTo)
            }
            return
        }
        try await context.runOnThread(watches: true, refreshSpacing: .milliseconds(20)) { mailbox in
            try PluginSession(self, mailbox, context).run()
        }
    }
}
