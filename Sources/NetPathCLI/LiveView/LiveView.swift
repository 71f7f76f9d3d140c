// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// The live view of `watch`: keeps the state, and draws it anew when it or the terminal changed, and only then.
///
/// Frames go through ``WatchOutput``: a terminal that takes nothing does not block, and gets the newest frame next.
struct LiveView: Sendable {
    /// What frames are drawn from, at the moment they are drawn.
    private final class Model: Sendable {
        let state: Mutex<LivePicture>

        init(_ state: LivePicture) {
            self.state = Mutex(state)
        }
    }

    let output: WatchOutput<StatusSnapshot>
    let screen: TerminalScreen
    private let loop: EventLoop
    private let model: Model

    /// Takes the terminal; nil when standard output is none that could show a view, or is not ours to use.
    ///
    /// - Parameters:
    ///   - descriptor: Where to draw.
    ///   - loop: The loop that the output turns.
    ///   - style: How to mark up.
    ///   - context: What the program is called, and where TERM and the character set are looked up.
    init?(_ descriptor: WatchDescriptor, loop: EventLoop, style: TextStyle, context: ToolContext) {
        let environment = context.environment
        guard !["", "dumb"].contains(environment["TERM", default: ""]), let screen = TerminalScreen(descriptor)
        else { return nil }
        let model = Model(
            LivePicture(
                name: context.name,
                characters: LiveCharacters(environment: environment),
                hint: screen.readsKeys ? "q quits" : "Ctrl-C quits"
            )
        )
        self.output = WatchOutput(descriptor, loop: loop) { _, previous in
            let lines = model.state.withLock { $0.lines(style) { $0.local } }
            return Self.frame(lines, isFirst: previous == nil)
        }
        self.screen = screen
        self.loop = loop
        self.model = model
        TerminalScreen.restoreAtEveryEnd()
        loop.wakeUp.followTerminal()
        // After the signal handlers, so that no change of the size is missed.
        self.measure()
        screen.enter()
    }

    /// Shows a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - onlyFirst: Whether to do nothing when another one was shown before.
    func show(_ snapshot: StatusSnapshot, onlyFirst: Bool = false) {
        let isShown = self.model.state.withLock { state in
            if onlyFirst, state.snapshot != nil { return false }
            state.record(snapshot)
            return true
        }
        if isShown { self.output.show(snapshot) }
    }

    /// Messages among the changes, of a level or more: on standard error, mostly the same terminal, they would be
    /// written over the view.
    func log(from level: LogLevel) -> MessageLog {
        MessageLog(from: level) { level, text in
            self.model.state.withLock { $0.history.record(level, text, at: ClockReading.now().wall) }
            self.draw()
        }
    }

    /// Answers to what happened to the terminal.
    func handle(_ reasons: LoopWakeUp.Reasons) {
        if !reasons.isDisjoint(with: [.suspend, .resume]) {
            self.output.pause()
            if reasons.contains(.suspend) { self.screen.stopProcess(wakeUp: self.loop.wakeUp) }
            self.screen.enter()
            self.output.resume()
        }
        if !reasons.isDisjoint(with: [.suspend, .resume, .resize]) {
            self.measure()
            self.draw()
        }
    }

    private func measure() {
        let size = StandardStreams.size ?? .usual
        self.model.state.withLock { $0.size = size }
    }

    private func draw() {
        if let snapshot = self.model.state.withLock({ $0.snapshot }) { self.output.show(snapshot) }
    }

    /// What makes a terminal show the lines.
    ///
    /// - Parameters:
    ///   - lines: A line for each row.
    ///   - isFirst: Whether the screen has to be entered.
    /// - Returns: The text, without a line feed after the last line, which would scroll.
    static func frame(_ lines: [String], isFirst: Bool) -> String {
        // A row is erased before it is written: after a full one the cursor stands on its last character.
        let rows = lines.map { "\u{1B}[K" + $0 }
        return (isFirst ? TerminalScreen.entering : "") + "\u{1B}[H" + rows.joined(separator: "\r\n")
    }
}
