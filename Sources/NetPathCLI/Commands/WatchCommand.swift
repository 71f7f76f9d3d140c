// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathRecording
import NetPathSystem

extension Hook.Trigger: ExpressibleByArgument {}

/// `netpath watch`.
struct WatchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the current path, then every change as it happens.",
        discussion: """
            On a terminal it shows a live view of the path, the interfaces, the backends and the latest changes, which \
            'q' ends; with --plain, with TERM=dumb and in the background a running log. Into a pipe or file it writes a \
            line whenever that differs from the one before; with --json one object per line for every change. A reader \
            that is too slow gets the newest state next and misses those in between.

            SIGINT, SIGTERM, and the end of the reader end it with exit status 0. The exit status does not tell the path; \
            that of 'status' does.

            The configuration is read again when its file changes, and on SIGHUP, which also looks for the file anew. \
            Only what changed is started again, and --set stays in force. A file with errors changes nothing; they are \
            reported.

            With --exec a command is run with the current status, and again when it changes: one run at a time, and the \
            newest state wins. It reads the path as JSON on its standard input and finds it in NETPATH_* variables, \
            NETPATH_STATUS and NETPATH_PREVIOUS_STATUS among them. No shell reads the command, and it runs with the \
            rights, the environment and the working directory of this program. What it writes goes to the messages. It \
            is ended, with all that it started, when it takes too long and when this program is ended.
            """
    )

    @Option(help: ArgumentHelp("End when this many paths are written, the first one included.", valueName: "number"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "End after this long, for example 30s.",
            discussion: "The exit status is 3 when --count asks for more paths than came by then, otherwise 0.",
            valueName: "duration"
        )
    )
    var timeout: TimeLimit?

    @Flag(help: "Leave out the path at the start; --count does not count it then.")
    var changesOnly = false

    @Flag(help: "Write a running log on a terminal too, instead of the live view.")
    var plain = false

    @Option(
        help: ArgumentHelp(
            "Record what happens into a file, for 'replay', 'history' or a bug report; a recording that is there is replaced.",
            valueName: "file"
        ),
        completion: .file()
    )
    var record: String?

    @Option(
        help: ArgumentHelp(
            "When to run the command of --exec.",
            discussion: """
                'status': when the status changed; 'interface': also when another interface carries the path; 'any': \
                whenever anything of the path changed.
                """,
            valueName: "change"
        )
    )
    var on = Hook.Trigger.status

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Run the command of --exec only after a change held this long.", valueName: "duration")
    )
    var holdTime = TimeLimit(duration: .zero)

    @Option(help: ArgumentHelp("How long a run of the command of --exec may take.", valueName: "duration"))
    var execTimeout = TimeLimit(duration: .seconds(30))

    @Option(
        help: ArgumentHelp(
            "How often a run of the command of --exec that failed is repeated, with growing pauses.",
            valueName: "number"
        )
    )
    var retries = 0

    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "Run this command with every change of the status; all arguments after it belong to it.",
            valueName: "command"
        )
    )
    var exec: [String] = []

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func validate() throws {
        if let count = self.count, count < 1 { throw ValidationError("--count must be at least 1, found \(count)") }
        guard (0...100).contains(self.retries) else {
            throw ValidationError("--retries must be from 0 to 100, found \(self.retries)")
        }
        if self.exec.first?.isEmpty ?? (ToolContext.current.arguments.last == "--exec") {
            throw ValidationError("--exec needs a command behind it, such as: --exec logger changed")
        }
        let idle = Self.optionsOfExec.first { name in
            ToolContext.current.arguments.contains { $0 == name || $0.hasPrefix(name + "=") }
        }
        if self.exec.isEmpty, let idle {
            throw ValidationError("\(idle) needs --exec")
        }
    }

    /// The options that say when and how the command of --exec is run.
    private static let optionsOfExec = ["--on", "--for", "--exec-timeout", "--retries"]

    /// The command of --exec; nil without one.
    private var hook: Hook? {
        guard !self.exec.isEmpty else { return nil }
        var hook = Hook(name: "exec", command: self.exec)
        hook.isTyped = true
        hook.trigger = self.on
        hook.holdTime = self.holdTime.duration
        hook.timeout = self.execTimeout.duration
        hook.retries = self.retries
        return hook
    }

    func execute() throws -> ToolStatus {
        let context = ToolContext.current
        let configuration = try self.options.runnableConfiguration()
        let loop = try EventLoop()
        loop.wakeUp.stopAndReloadOnSignals()
        guard let descriptor = try WatchDescriptor.ofReader() else { return .satisfied }

        let format: WatchFormat =
            self.options.json ? .json : context.isTerminal ? .log(self.options.style) : .lines
        // A watch that ends by itself is a script's; what it wrote has to stay on the screen.
        let isLive =
            context.isTerminal && !self.options.json && !self.plain && self.count == nil && !self.changesOnly
        let live =
            isLive
            ? LiveView(descriptor, loop: loop, style: self.options.style, context: context) : nil
        defer { live?.screen.leave() }
        let output =
            live?.output
            ?? WatchOutput(
                descriptor,
                loop: loop,
                count: self.count,
                skipsFirst: self.changesOnly
            ) { snapshot, previous, room in
                // Every event passes here.
                if case .json = format { return snapshot.writeLine(in: &room) }
                room = Array(format.render(snapshot, previous: previous()) { $0.local }.utf8)
                return room.count
            }
        let makeLog = { (level: LogLevel) in live?.log(from: level) ?? context.log(from: level) }
        let log = makeLog(configuration.logLevel)
        // What the command writes is worth showing to who typed it, however little messages matter otherwise.
        let execLog = makeLog(min(configuration.logLevel, .info))
        let runner = try self.hook.map { hook throws(SystemError) in
            try HookRunner([hook], loop: loop, environment: context.environment, log: execLog.write)
        }
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        let recorder = try self.record.map { file in
            try Recorder(
                coordinator,
                to: RecordingStore(file: file),
                configuration,
                isRequired: true,
                loop: loop,
                log: log.write
            )
        }
        coordinator.subscribe { path in
            let snapshot = StatusSnapshot.now(path, path.backends)
            // First, since the program may end with what is written.
            runner?.show(snapshot)
            if let live { live.show(snapshot) } else { output.show(snapshot) }
        }
        let deadline = self.timeout.map { loop.now() + $0.duration }
        if let deadline { loop.stop(at: deadline) }
        let follower = ConfigurationFollower(configuration, self.options, coordinator, loop: loop, log: log)
        coordinator.start()
        defer {
            loop.stop(coordinator)
            recorder?.stop()
        }

        let onSilence = {
            let reports = coordinator.snapshots.map(\.report)
            if let live { return live.show(.now(nil, reports), onlyFirst: true) }
            context.note("\(context.name): \(Self.silenceMessage(reports))")
            if self.options.json { output.show(.now(nil, reports), onlyFirst: true) }
        }
        let end = output.run(
            screen: live?.screen,
            onWakeUp: { reasons in
                live?.handle(reasons)
                follower.handle(reasons)
            },
            onSilence: onSilence
        )
        if let runner {
            coordinator.stop()
            // A watch that ends by itself leaves nothing half done.
            if end == .complete { runner.finish() }
            runner.stop(within: .seconds(2))
        }
        if case .failed(let error) = end { throw error }
        // Only then is anything missing; a signal before it is what ended a watch that was cut short.
        let isLate = deadline.map { $0 <= loop.now() } ?? false
        return end == .stopped && self.count != nil && isLate ? .timedOut : .satisfied
    }

    /// What to say when no backend has a verdict.
    static func silenceMessage(_ reports: [BackendReport]) -> String {
        let states = reports.map { report -> String in
            let state =
                switch report.health {
                case .healthy: "no verdict"
                case .unhealthy: report.error ?? "unhealthy"
                case .off, .standby, .starting, .notAsked: report.condition
                }
            return "\(report.name): \(state)".safe
        }
        return "no backend has a verdict yet (\(states.joined(separator: "; "))); waiting"
    }
}
