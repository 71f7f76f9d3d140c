// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What WireGuard says of one of its interfaces (`linux/wireguard.h`), as far as it decides the way of its packets.
///
/// A long answer comes in several messages, the allowed addresses of one peer included.
struct WireGuardDevice: Hashable {
    /// The mark of its packets; nil for none.
    var mark: UInt32?
    /// The UDP port that its packets are sent from; nil while it is down.
    var port: UInt16?
    /// Its peers by their public keys.
    private var peers: [[UInt8]: Peer] = [:]

    fileprivate struct Peer: Hashable {
        var endpoint: InternetAddress?
        var port: UInt16?
        /// The index of the interface that a link-local endpoint is valid on.
        var zone: UInt32?
        var allowed: [AddressPrefix] = []
    }

    /// The length of struct genlmsghdr.
    private static let headerLength = 4

    /// Reads one message of the answer to WG_CMD_GET_DEVICE.
    mutating func read(_ message: NetlinkMessage) {
        message.forEachAttribute(headerLength: Self.headerLength) { type, attribute in
            switch wgdevice_attribute(UInt32(type)) {
            case WGDEVICE_A_FWMARK: self.mark = attribute.uint32 == 0 ? nil : attribute.uint32
            case WGDEVICE_A_LISTEN_PORT: self.port = attribute.load(at: 0).flatMap { $0 == 0 ? nil : $0 }
            case WGDEVICE_A_PEERS: attribute.forEachNested { _, peer in self.readPeer(peer) }
            default: break
            }
        }
    }

    private mutating func readPeer(_ attribute: NetlinkAttribute) {
        guard let key = attribute.nested(Int(WGPEER_A_PUBLIC_KEY.rawValue))?.bytes else { return }
        var peer = self.peers[key] ?? Peer()
        if let socket = attribute.nested(Int(WGPEER_A_ENDPOINT.rawValue)) { peer.readEndpoint(socket) }
        attribute.nested(Int(WGPEER_A_ALLOWEDIPS.rawValue))?.forEachNested { _, allowed in
            guard let address = allowed.nested(Int(WGALLOWEDIP_A_IPADDR.rawValue))?.address,
                let length: UInt8 = allowed.nested(Int(WGALLOWEDIP_A_CIDR_MASK.rawValue))?.load(at: 0)
            else { return }
            peer.allowed.append(AddressPrefix(address, length: min(Int(length), address.bitWidth)))
        }
        self.peers[key] = peer
    }

    /// The packets that carry those to any of these destinations: where to, through which interface where an address is
    /// link-local, from which port and to which; sorted.
    func packets(towards destinations: [InternetAddress]) -> [Flow] {
        let chosen = Set(destinations.compactMap(self.peer))
        // What another tunnel sends into this one goes to an address that is not among them.
        return (chosen.isEmpty ? Set(self.peers.values) : chosen)
            .compactMap { peer -> Flow? in
                guard let endpoint = peer.endpoint else { return nil }
                var flow = Flow(to: endpoint)
                flow.interface = peer.zone
                flow.mark = self.mark
                flow.transport = .udp(from: self.port, to: peer.port)
                return flow
            }
            .sorted { $0.destination < $1.destination }
    }

    /// The peer with the longest prefix of a destination among its allowed addresses.
    private func peer(for destination: InternetAddress) -> Peer? {
        let candidates = self.peers.values.flatMap { peer in
            peer.allowed.filter { $0.contains(destination) }.map { (length: $0.length, peer: peer) }
        }
        return candidates.max { $0.length < $1.length }?.peer
    }
}

extension WireGuardDevice.Peer {
    /// Reads struct sockaddr_in or sockaddr_in6.
    fileprivate mutating func readEndpoint(_ socket: NetlinkAttribute) {
        let bytes = socket.bytes
        guard let family: UInt16 = socket.load(at: 0) else { return }
        self.port = socket.load(at: 2).map { UInt16(bigEndian: $0) }
        if Int32(family) == AF_INET, bytes.count >= 8 {
            self.endpoint = InternetAddress(bytes: bytes[4..<8])
        } else if Int32(family) == AF_INET6, bytes.count >= 24 {
            self.endpoint = InternetAddress(bytes: bytes[8..<24])
            let zone: UInt32? = socket.load(at: 24)
            self.zone = zone == 0 ? nil : zone
        }
    }
}
