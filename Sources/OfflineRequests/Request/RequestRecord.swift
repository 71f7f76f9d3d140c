// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// A request of the queue, and where it stands.
public struct RequestRecord: Identifiable, Hashable, Sendable {
    /// The request.
    public var request: RetryableRequest
    /// Where it stands.
    public var state: RequestState
    /// What it waits for; nil when it does not wait.
    public var waiting: WaitingReason?
    /// What came of the last attempt when that failed, without secrets.
    public var lastError: String?
    /// The status of the last answer.
    public var lastStatus: Int?
    /// When it is tried again at the earliest; nil when only other things decide.
    public var notBefore: Date?
    /// Its place in the order of enqueuing.
    public var sequence: Int64
    /// How many attempts were begun, those that did not count among them.
    public var attempts = 0
    /// Whether a server may have received it before.
    public var isRepeat = false
    /// What the server answered, where ``RetryableRequest/keepsResponse`` asks for it.
    public var response: TransportResponse?

    /// The id of the request.
    public var id: UUID { self.request.id }
}

/// Where a request of the queue stands.
public enum RequestState: String, Hashable, Sendable, Codable, CaseIterable {
    /// It may go as soon as there is a path and a free place.
    case ready
    /// Another request of its lane goes first.
    case blocked
    /// It was tried, and waits before it is tried again.
    case backoff
    /// It is being sent.
    case running
    /// It waits for a user, as ``WaitingReason`` says: for credentials, or since it was redirected, its lane is held, or it is
    /// damaged.
    case held
    /// It was given up; it is kept, and can be revived.
    case dead
    /// It was delivered, and its response is kept.
    case succeeded
    /// It was cancelled, or replaced.
    case cancelled

    /// Those of requests that are to be delivered.
    package static let pending: Set<RequestState> = Set(Self.allCases.filter { !$0.isFinal })

    /// Whether nothing more will happen to it by itself.
    public var isFinal: Bool {
        switch self {
        case .ready, .blocked, .backoff, .running, .held: false
        case .dead, .succeeded, .cancelled: true
        }
    }
}

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

    /// Whether nothing is left that is sent by itself: what is blocked then is behind a request that waits for a decision.
    package var isDrained: Bool { self.ready + self.backoff + self.running == 0 }

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
