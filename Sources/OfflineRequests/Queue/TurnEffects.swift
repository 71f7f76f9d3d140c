// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// What a transaction leads to once it is in the file.
struct TurnEffects {
    /// Whether anybody wants to hear of events.
    var records = false
    private(set) var events: [QueueEvent] = []
    /// How requests ended.
    private(set) var ended: [UUID: RequestState] = [:]
    /// Those that are marked as being sent.
    var marked: [UUID] = []
    /// Those that were removed, which may be being sent.
    var removed: [UUID] = []
    /// What is there afterwards.
    var counts: QueueCounts?

    init(records: Bool = false) {
        self.records = records
    }

    mutating func add(_ event: @autoclosure () -> QueueEvent) {
        if self.records { self.events.append(event()) }
    }

    mutating func add(_ event: @autoclosure () -> QueueEvent, ending id: UUID, as state: RequestState) {
        guard self.records else { return }
        self.events.append(event())
        self.ended[id] = state
    }
}
