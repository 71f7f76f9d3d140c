// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// What a live view shows, without input and output.
protocol LivePicture: Sendable {
    /// What it is made from.
    associatedtype Snapshot: Sendable

    /// The latest snapshot.
    var snapshot: Snapshot? { get }
    /// The size of the terminal.
    var size: TerminalSize { get set }
    /// Takes the next snapshot.
    mutating func record(_ snapshot: Snapshot)
    /// The latest changes and messages, which fill the rest of the terminal.
    var history: ChangeHistory { get set }
    /// The characters that the terminal shows.
    var characters: LiveCharacters { get }
    /// What stands at the top.
    func title(local: (WallTime) -> CivilTime) -> [LiveLine]
    /// What stands below it, the changes apart.
    func sections(local: (WallTime) -> CivilTime) -> [LiveSection]
    /// The last row, where there is room for it.
    func footer(local: (WallTime) -> CivilTime) -> LiveLine
}

/// A live view: keeps the state, and draws it anew when it or the terminal changed, and only then.
///
/// Frames go through ``WatchOutput``: a terminal that takes nothing does not block, and gets the newest frame next.
struct LiveView<Picture: LivePicture>: Sendable {
    /// What frames are drawn from, at the moment they are drawn.
    private final class Model: Sendable {
        let state: Mutex<Picture>

        init(_ state: Picture) {
            self.state = Mutex(state)
        }
    }

    let output: WatchOutput<Picture.Snapshot>
    let screen: TerminalScreen
    private let loop: EventLoop
    private let model: Model

    /// Takes the terminal; nil when standard output is none that could show a view, or is not ours to use.
    ///
    /// - Parameters:
    ///   - descriptor: Where to draw.
    ///   - loop: The loop that the output turns.
    ///   - style: How to mark up.
    ///   - environment: Where TERM and the character set are looked up.
    ///   - picture: Makes the picture, given the characters there are and how to leave.
    init?(
        _ descriptor: WatchDescriptor,
        loop: EventLoop,
        style: TextStyle,
        environment: [String: String],
        picture: (_ characters: LiveCharacters, _ hint: String) -> Picture
    ) {
        guard !["", "dumb"].contains(environment["TERM", default: ""]), let screen = TerminalScreen(descriptor)
        else { return nil }
        let hint = screen.readsKeys ? "q quits" : "Ctrl-C quits"
        let model = Model(picture(LiveCharacters(environment: environment), hint))
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
    func show(_ snapshot: Picture.Snapshot, onlyFirst: Bool = false) {
        let isShown = self.model.state.withLock { state in
            if onlyFirst, state.snapshot != nil { return false }
            state.record(snapshot)
            return true
        }
        if isShown { self.output.show(snapshot) }
    }

    /// A receiver of log messages that shows what matters enough among the changes: on standard error, mostly the same
    /// terminal, it would be written over the view.
    func log(from threshold: LogThreshold) -> @Sendable (LogLevel, String) -> Void {
        { level, text in
            guard level >= threshold.level else { return }
            self.model.state.withLock { $0.record(level, text, at: ClockReading.now().wall) }
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
