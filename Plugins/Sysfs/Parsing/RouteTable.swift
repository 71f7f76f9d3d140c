// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A route of a procfs table that covers at least one of the addresses asked about.
struct RouteEntry: Hashable {
    var destination: AddressPrefix
    /// The next hop; nil when there is none, or one of the other family, which the table of IPv4 does not show.
    var gateway: InternetAddress?
    var metric: UInt32
    /// The interface; nil when the route refuses packets.
    var interface: String?
    /// Whether it takes no packets; how it refuses them, and whether another table may be asked, does not show.
    var isRefusal = false
    /// Whether several such routes share the packets (IPv6 shows each next hop as a route of its own).
    var sharesPackets = false
    /// Whether it came with a router advertisement (RTF_ADDRCONF).
    var isAdvertised = false
}

/// What is known of the main routing table of one family.
struct RouteTable: Hashable {
    /// The routes that matter, in the order of the table; those of the same destination by metric.
    var entries: [RouteEntry] = []
    /// Whether the whole table was read; otherwise more specific routes may exist.
    var isComplete = true
}

extension RouteTable {
    /// RTF_REJECT.
    static let rejects: UInt64 = 0x200

    /// Reads `/proc/net/route` or its beginning.
    ///
    /// The table is in the order of addresses, of those that begin equal the longest prefix first: a default route
    /// comes among the first lines, however long the table is, and after a 0.0.0.0/1.
    init?(ipv4 text: Span<UInt8>, isComplete: Bool, covering addresses: [InternetAddress]) {
        // Where IPv4 was never configured, the kernel has no table, and not even a header.
        if text.isEmpty, isComplete { return }
        var scanner = LineScanner()
        // The header, which tells such a table from anything else.
        guard scanner.nextLine(in: text), text.isWord("Iface", at: scanner.nextWord(in: text)) else { return nil }
        self.isComplete = isComplete
        while scanner.nextLine(in: text) {
            guard !scanner.isCut, let entry = Self.ipv4Entry(&scanner, text) else {
                self.isComplete = false
                continue
            }
            if addresses.contains(where: entry.destination.contains) { self.entries.append(entry) }
        }
    }

    private static func ipv4Entry(_ scanner: inout LineScanner, _ text: Span<UInt8>) -> RouteEntry? {
        let name = scanner.nextWord(in: text)
        let destination = scanner.nextWord(in: text)
        let gateway = scanner.nextWord(in: text)
        let flags = scanner.nextWord(in: text)
        _ = scanner.nextWord(in: text)  // references
        _ = scanner.nextWord(in: text)  // uses
        let metric = scanner.nextWord(in: text)
        let mask = scanner.nextWord(in: text)
        guard destination.count == 8, gateway.count == 8, mask.count == 8,
            let destination = text.hexadecimal(destination), let gateway = text.hexadecimal(gateway),
            let flags = text.hexadecimal(flags), let metric = text.decimal(metric).flatMap(UInt32.init(exactly:)),
            let mask = text.hexadecimal(mask)
        else { return nil }
        let length = Self.address(mask).leadingOnes
        var entry = RouteEntry(
            destination: AddressPrefix(InternetAddress(ipv4: Self.address(destination)), length: length),
            gateway: gateway == 0 ? nil : InternetAddress(ipv4: Self.address(gateway)),
            metric: metric
        )
        if text.isWord("*", at: name) {
            // Unreachable and prohibit have the flag, blackhole and throw have none.
            entry.isRefusal = true
        } else {
            guard let name = text.interfaceName(name) else { return nil }
            entry.interface = name
            entry.isRefusal = flags & Self.rejects != 0
        }
        return entry
    }

    /// The kernel prints the four bytes as if they were a number of the machine.
    private static func address(_ printed: UInt64) -> UInt32 {
        UInt32(bigEndian: UInt32(truncatingIfNeeded: printed))
    }
}

extension UInt32 {
    var leadingOnes: Int { (~self).leadingZeroBitCount }
}
