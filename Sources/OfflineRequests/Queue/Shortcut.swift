// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// Whether a caller may write into the file itself, rather than have the thread of the queue do it.
///
/// That saves two wake-ups, which take longer than a quick disk. It is worth it only for a caller who is alone: several
/// at once share a transaction of the thread. And it must not overtake what the same caller has asked for before.
final class Shortcut: Sendable {
    /// How long a commit may take for a caller to wait for it on a thread that it shares with others.
    private static let limit: Duration = .milliseconds(1)

    /// How many commands the thread has not answered yet.
    private let commands = Atomic<Int>(0)
    private let isQuick = Atomic<Bool>(false)
    /// Whether the thread would send what comes, and so has to hear of it.
    private let isSending = Atomic<Bool>(false)

    /// Whether it may be tried.
    var isOpen: Bool { self.isQuick.load(ordering: .relaxed) && self.commands.load(ordering: .acquiring) == 0 }

    /// A command is posted.
    func posted() { self.commands.add(1, ordering: .acquiringAndReleasing) }

    /// So many commands are about to be answered.
    func answered(_ count: Int) { self.commands.subtract(count, ordering: .acquiringAndReleasing) }

    /// A durable commit of so many commands took this long.
    ///
    /// Whoever is told that it was slow, or shared, leaves the next one to the thread, which says so again or takes it
    /// back.
    func measured(_ duration: Duration, commands: Int = 1) {
        self.isQuick.store(commands == 1 && duration <= Self.limit, ordering: .relaxed)
    }

    /// Says whether the thread would send what comes: before it looks for that, which nobody can overtake.
    var sends: Bool {
        get { self.isSending.load(ordering: .acquiring) }
        set { self.isSending.store(newValue, ordering: .releasing) }
    }
}
