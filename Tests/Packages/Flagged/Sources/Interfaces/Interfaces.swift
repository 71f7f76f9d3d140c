// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Network

extension NWInterface.InterfaceType {
    /// What people call it.
    public var title: String { self == .wiredEthernet ? "Ethernet" : "\(self)" }
}
