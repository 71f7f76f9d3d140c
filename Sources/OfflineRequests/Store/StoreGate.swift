// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where requests go and what they need of the network: those of one gate may go, or wait, together.
struct StoreGate: Identifiable, Hashable, Sendable {
    /// The number in the database.
    var id: Int64
    /// The host, with a port that is not the scheme's.
    var host: String
    /// What the path must be like.
    var requires: PathRequirements
    /// The priority of the request that goes first through it.
    var priority: RequestPriority
    /// The number of that request.
    var first: Int64
}
