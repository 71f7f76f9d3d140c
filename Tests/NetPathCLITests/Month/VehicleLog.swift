// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

@testable import NetPath
@testable import NetPathRecording

/// What was done to a vehicle, in the words of a history, kept apart from everything that is tested.
///
/// A few bytes for each change, reserved at once, so that the memory that grows is that of what is tested.
struct VehicleLog: Sendable {
    enum Content: Hashable, Sendable {
        case state(VehicleState)
        case slept
        case ended
        case killed

        /// Whether there was no path.
        var isDown: Bool {
            if case .state(let state) = self { state.expected.status != .satisfied } else { false }
        }
    }

    struct Entry: Sendable {
        var begin: Int64
        var content: Content
    }

    private(set) var entries: [Entry] = []

    init(capacity: Int) {
        // Written once: memory that was only reserved is not resident yet.
        self.entries = Array(repeating: Entry(begin: 0, content: .ended), count: capacity)
        self.entries.removeAll(keepingCapacity: true)
    }

    mutating func begin(_ content: Content, at wall: Int64) {
        self.entries.append(Entry(begin: wall, content: content))
    }

    /// What was true at a moment; nil before the first.
    func content(at wall: Int64) -> Content? { self.index(at: wall).map { self.entries[$0].content } }

    /// What was true between two moments, what reaches beyond them cut off there.
    func within(_ begin: Int64, _ end: Int64) -> [(begin: Int64, end: Int64, content: Content)] {
        guard let first = self.index(at: begin) ?? self.entries.indices.first else { return [] }
        return self.entries.indices[first...].compactMap { index in
            let next = index + 1 < self.entries.count ? self.entries[index + 1].begin : end
            let (from, to) = (max(begin, self.entries[index].begin), min(end, next))
            return from < to ? (from, to, self.entries[index].content) : nil
        }
    }

    private func index(at wall: Int64) -> Int? {
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = (low + high) / 2
            if self.entries[middle].begin <= wall { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}

extension VehicleLog.Content {
    /// Whether a history says the same.
    func agrees(with content: PathHistory.Period.Content) -> Bool {
        switch (self, content) {
        case (.state(let state), .path(let path)):
            path.status == state.expected.status && path.reason.code == state.expected.reason
                && (state.carrier == nil || path.interface == state.carrier) && !path.isStale
        case (.slept, .unknown(let reason)): reason == "the machine slept"
        case (.ended, .unknown(let reason)): reason == "netpath did not run"
        case (.killed, .unknown(let reason)): reason.contains("was killed")
        default: false
        }
    }
}

/// What metrics and hooks have to say of one run of the program.
struct VehicleTally: Sendable {
    private(set) var paths = 0
    private(set) var changes: [PathStatus: Int] = [:]
    private(set) var time: [PathStatus: Duration] = [:]
    private(set) var down: [PathReason.Code: Duration] = [:]
    /// How often a hook was run that is told of a status that holds.
    private(set) var hookRuns = 0
    private var told: PathStatus?
    private var current: (state: VehicleState, since: MonotonicTime)?
    private var statusSince = MonotonicTime(nanoseconds: 0)
    private let holdTime: Duration

    init(holdTime: Duration) { self.holdTime = holdTime }

    /// Takes that a state began; nil at the end of the time that is looked at.
    mutating func begin(_ state: VehicleState?, at now: MonotonicTime) {
        let former = self.current?.state.expected
        if let (state, since) = self.current {
            self.time[state.expected.status, default: .zero] += now - since
            if state.stage != .routed { self.down[state.expected.reason, default: .zero] += now - since }
            self.current?.since = now
        }
        if let former, now - self.statusSince >= self.holdTime, self.told != former.status {
            self.told = former.status
            self.hookRuns += 1
        }
        guard let state else { return }
        self.paths += 1
        if let former, former.status != state.expected.status { self.changes[state.expected.status, default: 0] += 1 }
        if former?.status != state.expected.status { self.statusSince = now }
        self.current = (state, now)
    }
}
