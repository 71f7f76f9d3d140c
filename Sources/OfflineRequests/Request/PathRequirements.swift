// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Connectivity

/// What a request needs of the network besides a path.
///
/// While nobody can tell how the network is, requests that need something of the path wait; others are tried.
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

    /// Decodes requirements; what is missing is not required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.unmeteredOnly = try values.decodeIfPresent(Bool.self, forKey: .unmeteredOnly) ?? false
        self.interfaceType = try values.decodeIfPresent(ConnectionType.self, forKey: .interfaceType)
    }

    /// Whether something of the path itself is required, which somebody has to know.
    var dependsOnPath: Bool { self.unmeteredOnly || self.interfaceType != nil }
}
