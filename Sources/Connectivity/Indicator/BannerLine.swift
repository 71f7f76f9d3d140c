// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The last line of a terminal: a banner while disconnected, and the program's own progress; what has to be written to
/// bring it up to date.
///
/// Without a terminal there is no such line: transitions and printed lines follow one another.
struct BannerLine: Sendable {
    private static let erase = "\r\u{1B}[K"
    // A line that wraps could not be erased.
    private static let withoutWrap = (on: "\u{1B}[?7l", off: "\u{1B}[?7h")

    let banner: String
    let restored: String
    let isTerminal: Bool
    private var isOffline = false
    private var progress = ""
    private var drawn = ""

    init(banner: String, restored: String, isTerminal: Bool) {
        self.banner = banner
        self.restored = restored
        self.isTerminal = isTerminal
    }

    mutating func show(isOffline: Bool) -> String {
        guard self.isOffline != isOffline else { return "" }
        self.isOffline = isOffline
        return self.isTerminal ? self.redraw() : "\(isOffline ? self.banner : self.restored)\n"
    }

    mutating func show(progress: String?) -> String {
        self.progress = String((progress ?? "").map { $0.isNewline ? " " : $0 })
        return self.redraw()
    }

    /// Puts lines above this one.
    mutating func print(_ text: String) -> String {
        guard self.isTerminal, !self.drawn.isEmpty else { return "\(text)\n" }
        self.drawn = ""
        return "\(Self.erase)\(text)\n\(self.redraw())"
    }

    /// Leaves the terminal as if nothing had been there.
    mutating func clear() -> String {
        self.isOffline = false
        self.progress = ""
        return self.redraw()
    }

    private mutating func redraw() -> String {
        guard self.isTerminal else { return "" }
        let content = [self.isOffline ? self.banner : "", self.progress].filter { !$0.isEmpty }.joined(separator: "  ")
        guard content != self.drawn else { return "" }
        let erase = self.drawn.isEmpty ? "" : Self.erase
        self.drawn = content
        guard !content.isEmpty else { return erase }
        return "\(erase)\(Self.withoutWrap.on)\(content)\(Self.withoutWrap.off)"
    }
}
