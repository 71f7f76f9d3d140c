// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How many requests a queue holds in each state, which is known without looking at them.
public struct QueueCounts: Hashable, Sendable, Codable {
    /// May go as soon as there is a path and a free place.
    public var ready = 0
    /// Behind another of their lane.
    public var blocked = 0
    /// Tried, and waiting before they are tried again.
    public var backoff = 0
    /// Being sent.
    public var running = 0
    /// Waiting for a decision.
    public var held = 0
    /// Given up.
    public var dead = 0
    /// Delivered, with their response kept.
    public var succeeded = 0
    /// How many bytes all of them have, bodies included.
    public var bytes = 0

    /// Creates the counts of an empty queue.
    public init() {}

    /// How many will be delivered, if all goes well: all but the finished ones.
    public var pending: Int { self.ready + self.blocked + self.backoff + self.running + self.held }

    /// Whether nothing is left to deliver but what waits for a decision.
    var isDrained: Bool { self.pending == self.held }

    /// How many there are altogether.
    public var total: Int { self.pending + self.dead + self.succeeded }

    /// How many are in a state; setting changes that.
    public subscript(state: RequestState) -> Int {
        get { Self.place(of: state).map { self[keyPath: $0] } ?? 0 }
        set { if let place = Self.place(of: state) { self[keyPath: place] = newValue } }
    }

    private static func place(of state: RequestState) -> WritableKeyPath<QueueCounts, Int>? {
        switch state {
        case .ready: \.ready
        case .blocked: \.blocked
        case .backoff: \.backoff
        case .running: \.running
        case .held: \.held
        case .dead: \.dead
        case .succeeded: \.succeeded
        case .cancelled: nil
        }
    }
}
