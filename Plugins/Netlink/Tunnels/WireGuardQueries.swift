// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Asks WireGuard about its interfaces, over generic netlink (`genetlink(7)`).
///
/// Needs CAP_NET_ADMIN; without it nothing is found out, and nothing is lost but knowledge.
final class WireGuardQueries {
    private let queries: KernelQueries
    /// The number under which the kernel knows WireGuard's messages.
    private let family: UInt16

    /// Finds out how to ask; nil where the kernel has no WireGuard, or a sandbox allows no such socket.
    init?() {
        guard let queries = try? KernelQueries(protocol: NETLINK_GENERIC),
            case .success(let family) = queries.ask(.genericFamily("wireguard"), Self.familyNumber)
        else { return nil }
        self.queries = queries
        self.family = family
    }

    static func familyNumber(_ message: NetlinkMessage) -> UInt16? {
        message.attribute(CTRL_ATTR_FAMILY_ID, headerLength: 4)?.load(at: 0)
    }

    /// Asks about an interface; nil when the kernel does not say, to this user for one.
    func device(_ index: UInt32) -> WireGuardDevice? {
        try? self.queries.collect(.wireGuardDevice(index, family: self.family), into: WireGuardDevice()) {
            $0.read($1)
        }.get()
    }
}

extension NetlinkRequest {
    /// Asks for the number of a family of generic netlink.
    static func genericFamily(_ name: String) -> NetlinkRequest {
        // struct genlmsghdr: command, version, reserved.
        var request = NetlinkRequest(Int(GENL_ID_CTRL), headerLength: 4)
        request.set(UInt8(CTRL_CMD_GETFAMILY), at: 0)
        request.set(UInt8(1), at: 1)
        // With its final NUL.
        request.append(CTRL_ATTR_FAMILY_NAME, bytes: Array(name.utf8) + [0])
        return request
    }

    /// Asks for a WireGuard interface with its peers.
    fileprivate static func wireGuardDevice(_ index: UInt32, family: UInt16) -> NetlinkRequest {
        var request = NetlinkRequest(Int(family), flags: NLM_F_DUMP, headerLength: 4)
        request.set(UInt8(WG_CMD_GET_DEVICE.rawValue), at: 0)
        request.set(UInt8(WG_GENL_VERSION), at: 1)
        request.append(Int(WGDEVICE_A_IFINDEX.rawValue), index)
        return request
    }
}
