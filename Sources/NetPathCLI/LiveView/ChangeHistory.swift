// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What happened lately, the newest first, without input and output.
struct ChangeHistory: Hashable, Sendable {
    /// One thing that happened.
    struct Entry: Hashable, Sendable {
        var time: WallTime
        /// The status from then on, or the level of a message.
        var word: String
        var emphasis: TextStyle.Emphasis
        var text: String
    }

    /// More than a terminal has rows.
    private static let capacity = 200

    private(set) var entries: [Entry] = []
    /// When the status became what it is.
    private(set) var statusSince: WallTime?
    private var latest: StatusSnapshot?

    /// Takes the next snapshot; one that tells nothing new leaves no trace.
    mutating func record(_ snapshot: StatusSnapshot) {
        let earlier = self.latest
        self.latest = snapshot
        if earlier == nil || earlier?.path?.status != snapshot.path?.status { self.statusSince = snapshot.time }
        guard let path = snapshot.path else {
            if earlier == nil { self.add(snapshot.time, "unknown", .caution, "no backend has a verdict") }
            return
        }
        var parts = earlier?.path?.reason == path.reason ? [] : [path.sentence]
        parts += PathChange(from: earlier?.path, to: path).phrases.filter { $0 != path.reason.message }
        if !parts.isEmpty {
            self.add(snapshot.time, path.status.rawValue, path.status.emphasis, parts.joined(separator: "; "))
        }
    }

    /// Takes a message of the program: standard error would be written over the view.
    mutating func record(_ level: LogLevel, _ text: String, at time: WallTime) {
        self.add(time, level.rawValue, level >= .error ? .bad : .caution, text)
    }

    /// Adds what happened, which takes the place of the oldest entry when there are too many.
    private mutating func add(_ time: WallTime, _ word: String, _ emphasis: TextStyle.Emphasis, _ text: String) {
        self.entries.insert(Entry(time: time, word: word, emphasis: emphasis, text: text), at: 0)
        if self.entries.count > Self.capacity { self.entries.removeLast() }
    }
}
