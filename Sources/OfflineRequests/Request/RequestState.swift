// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

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
    /// It waits for somebody: the server did not accept who sent it.
    case held
    /// It was given up; it is kept, and can be revived.
    case dead
    /// It was delivered, and its response is kept.
    case succeeded
    /// It was cancelled while it was being sent.
    case cancelled

    /// Those of requests that are to be delivered.
    static let pending: Set<RequestState> = Set(Self.allCases.filter { !$0.isFinal })

    /// Whether nothing more will happen to it by itself.
    public var isFinal: Bool {
        switch self {
        case .ready, .blocked, .backoff, .running, .held: false
        case .dead, .succeeded, .cancelled: true
        }
    }
}
