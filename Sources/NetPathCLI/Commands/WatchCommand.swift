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

            SIGINT, SIGTERM, and the end of the reader end it with exit status 0.
            """
    )

    @Flag(help: "Write a running log on a terminal too, instead of the live view.")
    var plain = false

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let context = ToolContext.current
        let configuration = try self.options.configuration()
        let loop = try EventLoop()
        loop.wakeUp.stopOnSignals()
        let descriptor: WatchDescriptor
        do throws(SystemError) {
            descriptor = try WatchDescriptor()
        } catch {
            if error.isReaderGone { return .satisfied }
            throw error
        }

        let format: WatchFormat =
            self.options.json ? .json : context.isTerminal ? .log(self.options.style) : .lines
        let live =
            context.isTerminal && !self.options.json && !self.plain
            ? LiveView(descriptor, loop: loop, style: self.options.style, environment: context.environment) : nil
        defer { live?.screen.leave() }
        let output =
            live?.output
            ?? WatchOutput(descriptor, loop: loop) { snapshot, previous in
                format.render(snapshot, previous: previous) { $0.local }
            }
        let coordinator = configuration.makeCoordinator(
            clock: loop,
            executor: loop,
            log: live?.log(from: .warning) ?? context.log(from: .warning)
        )
        coordinator.subscribe { path in
            let snapshot = PathSnapshot(path: path, backends: path.backends, takenAt: .now())
            if let live { live.show(snapshot) } else { output.show(snapshot) }
        }
        coordinator.start()
        defer { coordinator.stop() }

        let onSilence = {
            let reports = coordinator.opinions.map(\.report)
            if let live { return live.show(PathSnapshot(backends: reports, takenAt: .now()), onlyFirst: true) }
            context.note(Self.silenceMessage(reports))
            if self.options.json { output.show(PathSnapshot(backends: reports, takenAt: .now()), onlyFirst: true) }
        }
        let end = output.run(screen: live?.screen, onWakeUp: { live?.handle($0) }, onSilence: onSilence)
        if case .failed(let error) = end { throw error }
        return .satisfied
    }

    /// What to say when no backend has an opinion.
    static func silenceMessage(_ reports: [BackendReport]) -> String {
        let states = reports.map { report -> String in
            let state =
                switch report.health {
                case .off: "off"
                case .starting: "silent so far"
                case .healthy: "no opinion"
                case .unhealthy: report.error ?? "unhealthy"
                }
            return "\(report.name): \(state)".safe
        }
        return "netpath: no backend has an opinion yet (\(states.joined(separator: "; "))); waiting"
    }
}
