// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What decides the way of a packet besides the tables: what policy rules and source-specific routes look at (the
/// kernel's struct flowi, include/net/flow.h).
///
/// What is nil is left to the kernel: the interface and the source for it to choose, no mark, the user who asks, and
/// no transport protocol, so that rules about one do not fit.
struct Flow: Hashable {
    /// Where the packet goes.
    var destination: InternetAddress
    /// The interface it has to leave through (RTA_OIF).
    var interface: UInt32?
    /// Whether that is a VRF, whose packets leave through its members (`vrf` of the kernel's documentation).
    var interfaceIsVRF = false
    /// The address it is sent from (RTA_SRC).
    var source: InternetAddress?
    /// The mark of the socket (RTA_MARK, SO_MARK of `socket(7)`); asking with one needs no privilege.
    var mark: UInt32?
    /// The user who opened the socket (RTA_UID).
    var userID: UInt32?
    /// The transport protocol and its ports (RTA_IP_PROTO, RTA_SPORT, RTA_DPORT; Linux 4.18).
    var transport: Transport?

    /// A transport protocol and its ports.
    struct Transport: Hashable {
        /// The protocol's number (IPPROTO_*); the kernel takes TCP, UDP and ICMP.
        var protocolNumber: UInt8
        var sourcePort: UInt16?
        var destinationPort: UInt16?

        static let tcp: UInt8 = 6
        static let udp: UInt8 = 17
        /// The port of HTTPS, which most programs connect to.
        static let https: UInt16 = 443

        static func udp(from source: UInt16? = nil, to destination: UInt16?) -> Transport {
            Transport(protocolNumber: self.udp, sourcePort: source, destinationPort: destination)
        }
    }

    /// A packet that goes to an address, with nothing else decided.
    init(to destination: InternetAddress) {
        self.destination = destination
    }

    /// The same packet, with something else about it.
    func with<Value>(_ property: WritableKeyPath<Flow, Value>, _ value: Value) -> Flow {
        var flow = self
        flow[keyPath: property] = value
        return flow
    }
}
