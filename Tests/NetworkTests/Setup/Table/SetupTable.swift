// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// All setups, by the world they are from.
enum SetupTable {
    /// Why a tunnel of which only the interface is known may look whole.
    static let serverIsUnknown = """
        nobody says where the tunnel's server is, and an uplink works: only the way to the server is broken
        """

    /// Why a tunnel may look whole whose uplink has a carrier and nothing else.
    static let bareLinkMayCarry = "a program may carry the tunnel over an uplink without any address, as PPPoE does"

    /// Why a tunnel may look whole whose uplink is gone.
    static let otherNamespaceMayCarry = """
        a tunnel that is alone in its namespace may be carried from another one, as that of slirp4netns is
        """

    static let setups =
        clouds + routers + transitions + virtualPrivateNetworks + fullTunnels + killSwitches + containers + nodes
        + dataCentres + laptops + underlays
}
