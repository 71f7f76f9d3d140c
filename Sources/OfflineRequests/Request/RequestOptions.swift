// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity

/// Which of several waiting requests goes first, where order is not asked for by a lane.
public enum RequestPriority: Int, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// After everything else.
    case low = 0
    /// The usual one.
    case normal = 1
    /// Before everything else.
    case high = 2

    /// Whether the left one goes later.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What becomes of a lane when the request at its head is given up.
public enum LanePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// The lane stands still until a user revives or cancels that request.
    case hold
    /// The lane goes on with the next request.
    case skip
    /// The requests behind it are given up too.
    case dropLane
}

/// What happens when a request is enqueued while another with the same unique key waits.
public enum UniquePolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// The one that waits stays, unless it has expired; the new one is not enqueued.
    case keep
    /// The new one takes the place of the one that waits, unless that is already being sent.
    case replace
}

/// Which idempotency key a new request gets.
public enum IdempotencyKey: Hashable, Sendable {
    /// The id of the request, whatever its method: every repeat can be told from a new request.
    case automatic
    /// None; a server cannot tell a repeat from a new request.
    case none
    /// One of the caller's own: printable ASCII.
    case value(String)
}

/// What a request needs of the network besides a path.
///
/// While the state of the network is not known, requests that need something of the path wait; others are tried.
public struct PathRequirements: Hashable, Sendable, Codable {
    /// Whether it must not go over a path that costs money or is to be spared.
    public var unmeteredOnly: Bool
    /// What the path must lead over; nil for anything.
    public var interfaceType: ConnectionType?

    /// Creates requirements; without arguments any path will do.
    public init(unmeteredOnly: Bool = false, interfaceType: ConnectionType? = nil) {
        self.unmeteredOnly = unmeteredOnly
        self.interfaceType = interfaceType
    }

    /// Whether something of the path itself is required, which has to be known.
    var dependsOnPath: Bool { self.unmeteredOnly || self.interfaceType != nil }
}
