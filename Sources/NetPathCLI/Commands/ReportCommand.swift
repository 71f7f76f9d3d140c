// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathRecording
import NetPathSystem

/// `netpath report`.
struct ReportCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write everything that a bug report needs into one file.",
        discussion: """
            The file holds versions, the configuration in effect, what 'explain' says now, the history of the last 24 h, the \
            state of the kernel, and the end of the recording, which 'replay' and 'history --recording' read out of it. \
            Addresses, hardware addresses, names of hosts, users and Wi-Fi networks, URLs, tokens and arguments of commands \
            are masked, each in the same way everywhere, so that the report still explains the fault. On a terminal it asks \
            before it writes. An existing file is never overwritten; only the owner can read the new one.
            """
    )

    /// So much of the end of the recording.
    private static let recordingLimit = 1 << 20

    @Argument(
        help: ArgumentHelp(
            "The file to write; without it netpath-report-DATE-TIME.txt in this folder.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Mask nothing.")
    var unmasked = false

    @Flag(help: "Write without asking.")
    var yes = false

    @OptionGroup
    var source: RecordingOptions

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let now = ClockReading.now().wall
        let file = self.file ?? Self.name(at: now.local)
        // Before all the work.
        guard !FileAccess.exists(file) else {
            throw ToolFailure(.failure, "\(file.safe) is there already: name another file, or remove it")
        }
        // A report without what was asked for would be found out by the one who reads it.
        if self.source.path != nil { _ = try self.source.open(nil) }
        let report = self.report(at: now)
        let context = ToolContext.current
        if !self.options.json { try context.write(report.screen(self.options.style, file: file)) }
        let isWanted = self.yes || !StandardStreams.isInputTerminal || StandardStreams.confirm("Write \(file.safe)?")
        if isWanted {
            let masked = self.unmasked ? "nothing is masked" : "what is private is masked"
            try NewFile.write(
                report.text(head: "made at \(now.rfc3339) by netpath \(netPathVersion); \(masked)"),
                to: file
            )
            if !self.options.json { context.say("wrote \(file.safe)") }
        }
        if self.options.json { try context.write(report.document(file: file, isWritten: isWanted).line + "\n") }
        return isWanted ? .satisfied : .unsatisfied
    }

    private static func name(at time: CivilTime) -> String {
        "netpath-report-\(time.date)-\(time.time.prefix(8).filter { $0 != ":" }).txt"
    }

    private var masking: Masking? {
        if self.unmasked { return nil }
        let environment = ToolContext.current.environment
        let host = FileAccess.contents("/proc/sys/kernel/hostname")?.split(separator: "\n").first.map(String.init)
        let short = host?.split(separator: ".").first.map(String.init)
        let home = environment["HOME"]?.split(separator: "/").last.map(String.init)
        let users = ["USER", "LOGNAME", "SUDO_USER"].map { environment[$0] } + [home]
        return Masking(hosts: [host, short].compactMap { $0 }, users: users.compactMap { $0 })
    }

    private func report(at now: WallTime) -> Report {
        var report = Report(masking: self.masking)
        let kernel = KernelState()
        // Of the program, whose commit looks like a secret.
        report.add("versions") { "\(ToolContext.current.facts.text)\n\($0?.mask(kernel.system) ?? kernel.system)" }
        report.add("configuration") { masking in
            let text = try self.options.configuration().effective.text
            return masking?.maskConfiguration(text) ?? text
        }
        let explained = Result { try self.explained() }
        let plain = TextStyle(isColored: false, width: nil)
        report.add("explain") { masking in
            let text = try explained.get().screen(plain)
            return masking?.maskProse(text) ?? text
        }
        report.add("explain --json") { masking in
            let document = try explained.get().document
            return (masking?.mask(document) ?? document).line
        }
        report.add("history") { masking in
            let begin = WallTime(nanoseconds: now.nanoseconds - 86_400_000_000_000)
            let text = try self.source.history(self.options.recordingFolder(), since: begin, now: now).screen(plain)
            return masking?.maskProse(text) ?? text
        }
        report.add("network") { kernel.network(&$0) }
        report.add("resolver") { kernel.resolver(&$0) }
        report.add("radio switches", text: kernel.radios)
        report.add("kernel settings", text: kernel.settings)
        report.add(RecordingReport.section) {
            let recording = try self.source.open(self.options.recordingFolder())
            return String(decoding: try recording.tail(limit: Self.recordingLimit, masking: &$0), as: UTF8.self)
        }
        return report
    }

    private func explained() throws -> ExplainedPath {
        try OneShotCommand.ask(self.options.configuration().answering, limit: self.timeout.timeout.duration).explained
    }
}

extension RecordingOptions {
    /// The history from a moment on, for which a configuration may name the folder.
    ///
    /// - Throws: What ``open(_:)`` does.
    func history(
        _ configured: String?,
        since begin: WallTime,
        now: WallTime,
        withMessages: Bool = true
    ) throws -> ShownHistory {
        var history = PathHistory()
        try self.readPaths(configured, since: begin) { event in
            var event = event
            if !withMessages, case .path(var path) = event.kind {
                path.reason.hideMessage()
                event.kind = .path(path)
            }
            history.take(event)
        }
        if self.isBeingWritten, history.boot == SystemClock.boot {
            history.close(at: Recorder.clocks())
        } else if self.isLive {
            if !self.isBeingWritten { history.endUnseen("netpath does not run, and did not say when it ended") }
            history.close(at: now.nanoseconds)
        }
        let periods = history.within(begin.nanoseconds, self.isLive ? now.nanoseconds : .max)
        // What was before the recording began is no part of the answer.
        let first = WallTime(nanoseconds: max(begin.nanoseconds, periods.first?.begin ?? begin.nanoseconds))
        return ShownHistory(periods: periods, begin: first, end: now)
    }
}
