// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathRecording

/// `netpath replay`.
struct ReplayCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a recording through the coordinator again.",
        discussion: """
            Writes each path with the time at which it was published, as 'watch' did. With --set it shows what would have \
            been published with other settings than those recorded, such as merge.policy=any, from the same evidence; \
            $NETPATH_SET does not count. The exit status is 0; 1 when the paths differ from those recorded, which is a bug \
            in netpath.
            """
    )

    static let uselessOptions = ["--config"]

    @Argument(
        help: ArgumentHelp("A file that 'watch --record' wrote, or a folder of the service.", valueName: "recording"),
        completion: .file()
    )
    var path: String

    @Option(
        help: ArgumentHelp(
            "How many times as fast as it happened; 1 is real time.",
            discussion: "Otherwise as fast as possible.",
            valueName: "factor"
        )
    )
    var speed: Double?

    @Flag(help: "Show the next path when Enter is pressed.")
    var step = false

    @OptionGroup
    var settings: SettingOptions

    @OptionGroup(title: "Output options")
    var output: OutputOptions

    func validate() throws {
        if let speed, !(speed > 0 && speed.isFinite) { throw ValidationError("--speed must be more than 0") }
        if self.step, self.speed != nil { throw ValidationError("use either --step or --speed, not both") }
    }

    func execute() throws -> ToolStatus {
        let recording = try Recording(self.path)
        var player = RecordingPlayer(overrides: self.settings.overrides, registry: ToolContext.current.registry)
        let pace = try ReplayPace(speed: self.speed, waitsForKey: self.step)
        let context = ToolContext.current
        let format: WatchFormat = self.output.json ? .json : context.isTerminal ? .log(self.output.style) : .lines
        var previous: StatusSnapshot?
        var isWanted = true
        let damaged = try recording.read { event in
            for path in try player.take(event) {
                isWanted = try pace.wait(until: event)
                guard isWanted else { return false }
                let snapshot = StatusSnapshot(
                    path: path,
                    backends: path.backends,
                    takenAt: ClockReading(
                        monotonic: event.time,
                        wall: WallTime(nanoseconds: event.wallNanoseconds)
                    )
                )
                let text = format.render(snapshot, previous: previous) { $0.local }
                if !text.isEmpty { try context.write(text) }
                previous = snapshot
            }
            return true
        }
        guard player.hasBegun else { throw ToolFailure(.failure, RecordingError.empty(self.path.safe).description) }
        if damaged > 0 {
            let lines = damaged == 1 ? "1 line" : "\(damaged) lines"
            context.say("\(lines) cannot be read; what follows them up to the next checkpoint is left out")
        }
        guard isWanted, player.differences > 0 else { return .satisfied }
        let count = player.differences
        context.say(
            count == 1
                ? "1 path is not the one that was recorded" : "\(count) paths are not those that were recorded"
        )
        return .unsatisfied
    }
}
