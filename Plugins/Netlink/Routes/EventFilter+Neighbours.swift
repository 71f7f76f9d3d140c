// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

// The part about neighbours (struct ndmsg, `rtnetlink(7)`): family at 16, state at 24, flags at 26.
extension EventFilter {
    /// What becomes of a neighbour that is removed, and of one that has changed.
    static func neighbourBlock(
        _ interests: Interests
    ) -> (removed: [FilterInstruction], changed: [FilterInstruction]) {
        let gateways = Self.gatewayBlock(interests.gateways.sorted())
        let entries = Self.forwardingBlocks(interests)
        return (entries.removed + gateways, entries.changed + Self.answerBlock(interests) + gateways)
    }

    /// What becomes of entries of bridges and VXLAN; other neighbours go on to the gateways.
    private static func forwardingBlocks(
        _ interests: Interests
    ) -> (removed: [FilterInstruction], changed: [FilterInstruction]) {
        // Entries for frames to hardware addresses that are not known, where far ends of VXLAN depend on them.
        let defaults = interests.forwarding ? [[UInt8](repeating: 0, count: 6)] : []
        guard let addresses = interests.hardwareAddresses else {
            let entries = defaults.isEmpty ? [] : Self.dispatchForwarding(Self.hardwareBlock(defaults))
            return (entries, entries)
        }
        let isAny = addresses.count > Self.gatewayLimit
        let all = isAny ? [.accept] : Self.hardwareBlock(defaults + addresses)
        // What grows old tells nothing.
        let withdrawn = Self.state(NUD_STALE, true: 0, false: 1) + [.reject] + all
        let learnt = interests.followsForwarding ? all : Self.hardwareBlock(defaults)
        return (Self.dispatchForwarding(withdrawn), Self.dispatchForwarding(learnt))
    }

    /// Of neighbours that have changed, lets those go on to the gateways that fail, and more where more matters.
    private static func answerBlock(_ interests: Interests) -> [FilterInstruction] {
        if interests.followsRecovery { return Self.passRouters }
        guard interests.hardwareAddresses != nil else { return Self.state(NUD_FAILED, true: 1, false: 0) + [.reject] }
        let found = Self.findHardwareAddress + Self.gatewayBlock(interests.unknownGateways.sorted())
        return Self.state(NUD_FAILED, true: 0, false: 1) + [.skip(found.count)] + found
    }

    /// Compares the state of a neighbour, which stands in the machine's order.
    private static func state(_ state: Int32, true jumpTrue: UInt8, false jumpFalse: UInt8) -> [FilterInstruction] {
        [.loadHalf(at: 24), .jump(equal: UInt32(UInt16(state).bigEndian), true: jumpTrue, false: jumpFalse)]
    }

    /// Runs a block for entries of bridges, and what follows for other neighbours.
    private static func dispatchForwarding(_ block: [FilterInstruction]) -> [FilterInstruction] {
        [.loadByte(at: 16), .jump(equal: UInt32(AF_BRIDGE), true: 1, false: 0), .skip(block.count)] + block
    }

    /// Finds the link-layer address; neighbours without one are rejected.
    private static let findHardwareAddress: [FilterInstruction] =
        Self.find(NDA_LLADDR, headerLength: 12) + [.jump(equal: 0, true: 0, false: 1), .reject]

    /// Passes neighbours with one of some link-layer addresses.
    private static func hardwareBlock(_ addresses: [[UInt8]]) -> [FilterInstruction] {
        guard !addresses.isEmpty else { return [.reject] }
        return Self.findHardwareAddress + [.copyToIndex]
            + addresses.flatMap { address -> [FilterInstruction] in
                // The first four bytes and, two of them again, the last four.
                let bits = address.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                return [
                    .loadWord(behindIndex: 4), .jump(equal: UInt32(truncatingIfNeeded: bits >> 16), true: 0, false: 3),
                    .loadWord(behindIndex: 6), .jump(equal: UInt32(truncatingIfNeeded: bits), true: 0, false: 1),
                    .accept,
                ]
            } + [.reject]
    }

    /// Passes IPv6 routers that were unknown before: the kernel may choose one when it is back.
    private static let passRouters: [FilterInstruction] = [
        .loadByte(at: 16),
        .jump(equal: UInt32(AF_INET6), true: 0, false: 3),
        .loadByte(at: 26),
        .jump(anyOf: UInt32(NTF_ROUTER), true: 0, false: 1),
        .accept,
    ]

    /// Passes gateways.
    ///
    /// Of IPv6 addresses the last 64 bits are compared: those of routers begin with fe80::/64.
    private static func gatewayBlock(_ gateways: [InternetAddress]) -> [FilterInstruction] {
        let ipv4 = gateways.filter { $0.family == .ipv4 }
        let ipv6 = gateways.filter { $0.family == .ipv6 }
        let ipv4Block: [FilterInstruction] =
            ipv4.count > Self.gatewayLimit
            ? [.accept]
            : [.loadWord(behindIndex: 4)]
                + ipv4.flatMap { [.jump(equal: $0.word(0), true: 0, false: 1), .accept] } + [.reject]
        let ipv6Block: [FilterInstruction] =
            ipv6.count > Self.gatewayLimit
            ? [.accept]
            : [.loadWord(behindIndex: 12), .store(.firstWord), .loadWord(behindIndex: 16), .store(.secondWord)]
                + ipv6.flatMap { gateway -> [FilterInstruction] in
                    [
                        .load(.firstWord), .jump(equal: gateway.word(2), true: 0, false: 3),
                        .load(.secondWord), .jump(equal: gateway.word(3), true: 0, false: 1), .accept,
                    ]
                } + [.reject]
        // Forwarding entries of bridges are neighbours too.
        let blocks = Self.byFamily(ipv4Block, ipv6Block, others: .reject)
        return Self.find(NDA_DST, headerLength: 12) + [.jump(equal: 0, true: 0, false: 1), .reject, .copyToIndex]
            + blocks
    }
}
