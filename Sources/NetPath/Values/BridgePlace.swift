// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where a bridge has a host, as its forwarding database says (`bridge-fdb(8)`), or said.
public enum BridgePlace: Hashable, Sendable, Codable {
    /// Behind a port that forwards.
    case reachable
    /// Behind this port, which does not forward.
    case lost(port: String)
    /// The bridge does not know; the host may be behind one of these ports, which do not forward.
    case unknown(ports: [String])
}
