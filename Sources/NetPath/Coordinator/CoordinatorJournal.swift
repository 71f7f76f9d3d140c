// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// The inputs of a coordinator and what it published, kept until the recorder takes them.
package struct CoordinatorJournal: Sendable {
    /// Something that happened, and when.
    package struct Entry: Sendable {
        package enum Event: Sendable {
            case input(CoordinatorInput)
            case published(Shared<NetworkPath>)
            /// The state after everything before.
            case checkpoint(CoordinatorCheckpoint)
        }

        package var time: MonotonicTime
        package var event: Event
    }

    /// How many entries are kept; a recorder that is slower learns how many are lost.
    package static let limit = 4_096
    /// How many waiting entries there are between two checkpoints: in a storm of events thousands wait, and a replay of a
    /// moment among them must not have to begin before them all.
    private static let checkpointInterval = 64

    /// Called, with no lock held, when there is something to take after there was nothing.
    let notify: @Sendable () -> Void
    private var entries: [Entry] = []
    private var lost = 0
    private var sinceCheckpoint = 0
    /// Whether the reader has to be told.
    private var isUntold = false

    init(notify: @escaping @Sendable () -> Void) {
        self.notify = notify
    }

    mutating func append(_ event: Entry.Event, at time: MonotonicTime) {
        if self.entries.isEmpty { self.isUntold = true }
        guard self.entries.count < Self.limit else {
            self.lost += 1
            return
        }
        self.entries.append(Entry(time: time, event: event))
        self.sinceCheckpoint += 1
    }

    /// Takes what happens to a machine, before it does.
    mutating func append(_ input: CoordinatorInput, to machine: CoordinatorStateMachine, at time: MonotonicTime) {
        // Reports come in storms; and what follows from one stays together.
        if case .report = input, self.sinceCheckpoint >= Self.checkpointInterval {
            self.append(.checkpoint(CoordinatorCheckpoint(time: time, machine: machine)), at: time)
            self.sinceCheckpoint = 0
        }
        self.append(.input(input), at: time)
    }

    /// Whom to tell that there is something to take.
    mutating func takeNotice() -> (@Sendable () -> Void)? {
        guard self.isUntold else { return nil }
        self.isUntold = false
        return self.notify
    }

    mutating func take() -> (entries: [Entry], lost: Int) {
        defer { (self.entries, self.lost, self.sinceCheckpoint, self.isUntold) = ([], 0, 0, false) }
        return (self.entries, self.lost)
    }
}

/// The state of a coordinator at one moment: all that its further paths depend on, besides what happens.
package struct CoordinatorCheckpoint: Sendable, Codable {
    private enum CodingKeys: String, CodingKey { case time, machine }

    package var time: MonotonicTime
    var machine: CoordinatorStateMachine
    /// The path that was published last; nil before the first.
    package var path: NetworkPath? { self.machine.path }
}

extension PathCoordinator {
    /// Keeps a journal from now on.
    ///
    /// - Parameter notify: Called on any thread, with no lock held, when there is something to take.
    /// - Returns: The state from which the journal goes on.
    package func keepJournal(_ notify: @escaping @Sendable () -> Void) -> CoordinatorCheckpoint {
        self.state.withLock { state in
            state.journal = CoordinatorJournal(notify: notify)
            return CoordinatorCheckpoint(time: self.clock.now(), machine: state.machine)
        }
    }

    /// What happened since the last call, how many entries of it were lost, and, where asked for, the state after it.
    package func takeJournal(
        withCheckpoint: Bool
    ) -> (entries: [CoordinatorJournal.Entry], lost: Int, checkpoint: CoordinatorCheckpoint?) {
        self.state.withLock { state in
            let (entries, lost) = state.journal?.take() ?? ([], 0)
            // What was lost leaves no other way to go on.
            let isWanted = withCheckpoint || lost > 0
            let checkpoint = isWanted ? CoordinatorCheckpoint(time: self.clock.now(), machine: state.machine) : nil
            return (entries, lost, checkpoint)
        }
    }
}
