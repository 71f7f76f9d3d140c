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
        guard !interests.followsRecovery else { return (gateways, Self.passRouters + gateways) }
        let failed: [FilterInstruction] = [
            .loadHalf(at: 24),
            // ndm_state stands in the machine's order.
            .jump(equal: UInt32(UInt16(NUD_FAILED).bigEndian), true: 1, false: 0),
            .reject,
        ]
        return (gateways, failed + gateways)
    }

    /// Passes IPv6 routers that nobody knew of before: the kernel may choose one when it is back.
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
        let dispatch: [FilterInstruction] = [
            .loadByte(at: 16),
            .jump(equal: UInt32(AF_INET), true: 0, false: 1),
            .skip(3),
            .jump(equal: UInt32(AF_INET6), true: 1, false: 0),
            // Forwarding entries of bridges are neighbours too.
            .reject,
            .skip(ipv4Block.count),
        ]
        return Self.find(Int(NDA_DST), headerLength: 12) + [.jump(equal: 0, true: 0, false: 1), .reject, .copyToIndex]
            + dispatch + ipv4Block + ipv6Block
    }
}
