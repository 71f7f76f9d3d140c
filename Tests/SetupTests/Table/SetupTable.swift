// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// All setups, by the world they are from.
enum SetupTable {
    static let setups =
        clouds + routers + transitions + virtualPrivateNetworks + fullTunnels + killSwitches + containers + nodes
        + dataCentres + laptops
}
