// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The packet sockets of the namespace (`packet(7)`), as `/proc/net/packet` lists them for everybody: DHCP clients and PPPoE
/// have one for each interface that has no address yet.
struct PacketSockets: Hashable {
    private var protocols: [UInt32: Set<UInt16>] = [:]

    /// Reads the list: a heading, then for each socket among other things its protocol and the index of its interface, 0 for
    /// one of all interfaces.
    init(parsing text: some StringProtocol) {
        for line in text.split(whereSeparator: \.isNewline).dropFirst() {
            let words = line.split(separator: " ")
            guard words.count > 4, let number = UInt16(words[3], radix: 16), let index = UInt32(words[4]), index > 0
            else { continue }
            self.protocols[index, default: []].insert(number)
        }
    }

    /// Who is seen to give an interface an address.
    func configurer(of index: UInt32) -> NetworkInterface.Configurer {
        guard let protocols = self.protocols[index] else { return .nothing }
        // ETH_P_PPP_DISC; then ETH_P_IP and ETH_P_ALL, one of which every DHCP client listens for (`if_ether.h`).
        if protocols.contains(0x8863) { return .session }
        return protocols.isDisjoint(with: [0x0800, 0x0003]) ? .nothing : .network
    }
}
