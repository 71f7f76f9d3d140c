// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// Which frames the port of a bridge forwards, both ways (`bridge-link(8)`).
enum PortAttributes: Hashable {
    case everything
    /// Those of addresses that the bridge has behind it, and it learns none: the port is locked, or it neither learns nor
    /// floods.
    case enteredAddresses
    /// As without a carrier, or where a spanning tree blocks it.
    case nothing

    /// Reads the attributes; what is missing restricts nothing.
    init(_ port: NetlinkAttribute) {
        func isSet(_ attribute: Int) -> Bool? { (port.nested(attribute)?.load(at: 0) as UInt8?).map { $0 != 0 } }
        let state: UInt8? = port.nested(IFLA_BRPORT_STATE)?.load(at: 0)
        // BR_STATE_FORWARDING of `if_bridge.h`.
        if let state, state != 3 {
            self = .nothing
        } else if isSet(IFLA_BRPORT_LOCKED) == true
            || (isSet(IFLA_BRPORT_LEARNING) == false && isSet(IFLA_BRPORT_UNICAST_FLOOD) == false)
        {
            self = .enteredAddresses
        } else {
            self = .everything
        }
    }
}
