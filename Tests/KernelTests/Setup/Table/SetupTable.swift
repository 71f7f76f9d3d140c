// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// All setups, by the world they are from.
enum SetupTable {
    /// Why a tunnel of which only the interface is known may look whole.
    static let serverIsUnknown = """
        nobody says where the tunnel's server is, and an uplink works: only the way to the server is broken
        """

    /// Why a tunnel of which only the mark is known may look whole without any route.
    static let serverMayBeOnLink = "the server may be on the link of an uplink that has an address"

    static let setups =
        clouds + routers + transitions + virtualPrivateNetworks + fullTunnels + killSwitches + containers + nodes
        + dataCentres + laptops + underlays + keptFrames
}
