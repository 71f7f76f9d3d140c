// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathRecording

/// `netpath history`.
struct HistoryCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show when the path changed, and why it was down at a moment.",
        discussion: """
            Reads what 'netpath run' has recorded. Without --at it shows every change, how much of the time there was a \
            path, and why there was none. The exit status is 0; with --at it is that of 'status' at that moment, and 69 \
            when the recording does not cover it.
            """
    )

    @Option(help: ArgumentHelp("How far to look back, for example 2h or 7d.", valueName: "duration"))
    var since = TimeLimit(duration: .seconds(86_400))

    @Option(
        help: ArgumentHelp(
            "Explain the path of one moment, as 'explain' does for now.",
            discussion: """
                Such as 03:12, 03:12:30, "2026-11-23 03:12" or 2026-11-23T03:12:00Z. Without a date it is the last time that \
                the clock showed it.
                """,
            valueName: "time"
        )
    )
    var at: String?

    @OptionGroup
    var source: RecordingOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let now = ClockReading.now().wall
        self.source.noteNamespace()
        if let at {
            if ToolContext.current.arguments.contains(where: { $0 == "--since" || $0.hasPrefix("--since=") }) {
                throw ToolFailure(.usage, "use either --at or --since, not both")
            }
            guard let moment = MomentText.parse(at, now: now) else {
                throw ToolFailure(
                    .usage,
                    "'\(at.safe)' is not a time: write 03:12, \"2026-11-23 03:12\" or 2026-11-23T03:12:00Z"
                )
            }
            return try self.explain(moment)
        }
        let begin = WallTime(nanoseconds: now.nanoseconds - self.since.duration.inNanoseconds)
        let shown = try self.source.history(self.options.recordingFolder(), since: begin, now: now)
        try self.options.write(shown.document, or: shown.screen)
        return .satisfied
    }

    private func explain(_ moment: WallTime) throws -> ToolStatus {
        let isBeingWritten = self.source.isBeingWritten
        if self.source.isLive || isBeingWritten, moment.nanoseconds > ClockReading.now().wall.nanoseconds {
            throw ToolFailure(.unavailable, "\(moment.local.text) is in the future")
        }
        guard let found = try self.source.open(self.options.recordingFolder()).moment(at: moment.nanoseconds) else {
            throw ToolFailure(.unavailable, "the recording begins after \(moment.local.text)")
        }
        let last = WallTime(nanoseconds: found.last.wallNanoseconds).local.text
        let isPast = found.isEnd && !isBeingWritten
        if let missing = found.missing ?? (isPast ? "the recording ends at \(last)" : nil) {
            throw ToolFailure(.unavailable, "\(moment.local.text) was not recorded: \(missing)")
        }
        let replay = found.replay
        // Ages are those of the moment, however long before it something happened last.
        let silence = Duration.nanoseconds(moment.nanoseconds.subtractingSaturating(found.last.wallNanoseconds))
        let reading = ClockReading(monotonic: found.last.time + silence, wall: moment)
        let inquiry = OneShotCommand(
            snapshots: replay.snapshots,
            snapshot: StatusSnapshot(path: replay.path, backends: replay.snapshots.map(\.report), takenAt: reading),
            evaluation: replay.currentSettings.evaluation
        )
        let explained = inquiry.explained
        try self.options.write(explained.document) { style in
            "At \(moment.local.text)\n\n" + explained.screen(style)
        }
        return ToolStatus(replay.path)
    }
}
