// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How many requests a queue holds in each state, which is known without looking at them.
public struct QueueCounts: Hashable, Sendable, Codable {
    /// May go as soon as there is a path and a free place.
    public var ready: Int
    /// Behind another of their lane.
    public var blocked: Int
    /// Tried, and waiting before they are tried again.
    public var backoff: Int
    /// Being sent.
    public var running: Int
    /// Waiting for somebody.
    public var held: Int
    /// Given up.
    public var dead: Int
    /// Delivered, with their response kept.
    public var succeeded: Int
    /// How many bytes all of them have, bodies included.
    public var bytes: Int

    /// Creates counts.
    public init(
        ready: Int = 0,
        blocked: Int = 0,
        backoff: Int = 0,
        running: Int = 0,
        held: Int = 0,
        dead: Int = 0,
        succeeded: Int = 0,
        bytes: Int = 0
    ) {
        self.ready = ready
        self.blocked = blocked
        self.backoff = backoff
        self.running = running
        self.held = held
        self.dead = dead
        self.succeeded = succeeded
        self.bytes = bytes
    }

    /// How many will be delivered, if all goes well: all but the finished ones.
    public var pending: Int { self.ready + self.blocked + self.backoff + self.running + self.held }

    /// Whether nothing is left to deliver but what waits for somebody.
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
