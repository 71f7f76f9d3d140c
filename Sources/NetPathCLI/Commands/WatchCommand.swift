// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration

/// `netpath watch`.
struct WatchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show the current path, then every change as it happens.",
        discussion: """
            On a terminal a live view of the path, the interfaces, the backends and the latest changes, which 'q' \
            ends; with --plain, with TERM=dumb and in the background a running log. Into a pipe or file one line per \
            change, with --json one object per line. A reader that is too slow gets the newest state next and misses \
            those in between.

            SIGINT, SIGTERM, and the end of the reader end it with exit status 0. The exit status does not tell the path; \
            that of 'status' does.

            The configuration is read again when its file changes, and on SIGHUP, which also looks for the file anew. \
            Only what changed is started again, and --set stays in force. A file with errors changes nothing; they are \
            reported.
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

    @Flag(help: "Leave out the path there is at the start; --count does not count it then.")
    var changesOnly = false

    @Flag(help: "Write a running log on a terminal too, instead of the live view.")
    var plain = false

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func validate() throws {
        if let count = self.count, count < 1 { throw ValidationError("--count must be at least 1, found \(count)") }
    }

    func execute() throws -> ToolStatus {
        let context = ToolContext.current
        let configuration = try self.options.configuration()
        let loop = try EventLoop()
        loop.wakeUp.stopOnSignals()
        loop.wakeUp.reloadOnHangUp()
        guard let descriptor = try WatchDescriptor.ofReader() else { return .satisfied }

        let format: WatchFormat =
            self.options.json ? .json : context.isTerminal ? .log(self.options.style) : .lines
        // A watch that ends by itself is a script's; what it wrote has to stay on the screen.
        let isLive =
            context.isTerminal && !self.options.json && !self.plain && self.count == nil && !self.changesOnly
        let live =
            isLive
            ? LiveView(descriptor, loop: loop, style: self.options.style, environment: context.environment) {
                LiveState(characters: $0, hint: $1)
            } : nil
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
        let threshold = LogThreshold(configuration.logLevel)
        let log = live?.log(from: threshold) ?? context.log(from: threshold)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log)
        coordinator.subscribe { path in
            let snapshot = PathSnapshot(path: path, backends: path.backends, takenAt: .now())
            if let live { live.show(snapshot) } else { output.show(snapshot) }
        }
        let deadline = self.timeout.map { loop.now() + $0.duration }
        if let deadline { loop.stop(at: deadline) }
        let follower = self.options.follow(configuration, coordinator, loop: loop, threshold: threshold, log: log)
        coordinator.start()
        defer { coordinator.stop() }

        let onSilence = {
            let reports = coordinator.opinions.map(\.report)
            if let live { return live.show(PathSnapshot(backends: reports, takenAt: .now()), onlyFirst: true) }
            context.note(Self.silenceMessage(reports))
            if self.options.json { output.show(PathSnapshot(backends: reports, takenAt: .now()), onlyFirst: true) }
        }
        let end = output.run(
            screen: live?.screen,
            onWakeUp: { reasons in
                live?.handle(reasons)
                follower.handle(reasons)
            },
            onSilence: onSilence
        )
        if case .failed(let error) = end { throw error }
        // Only then is anything missing; a signal before it is what ended a watch that was cut short.
        let isLate = deadline.map { $0 <= loop.now() } ?? false
        return end == .stopped && self.count != nil && isLate ? .timedOut : .satisfied
    }

    /// What to say when no backend has an opinion.
    static func silenceMessage(_ reports: [BackendReport]) -> String {
        let states = reports.map { report -> String in
            let state =
                switch report.health {
                case .off: "off"
                case .standby: "standing by"
                case .starting: "silent so far"
                case .healthy: "no opinion"
                case .unhealthy: report.error ?? "unhealthy"
                }
            return "\(report.name): \(state)".safe
        }
        return "netpath: no backend has an opinion yet (\(states.joined(separator: "; "))); waiting"
    }
}
