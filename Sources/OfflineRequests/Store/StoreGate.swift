// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A gate that has requests which may go.
struct StoreGate: Identifiable, Hashable, Sendable {
    /// The number in the database.
    var id: Int64
    /// Where the requests go, and what they need of the network.
    var gate: Gate
    /// The priority of the request that goes first through it.
    var priority: RequestPriority
    /// The number of that request.
    var first: Int64
}
