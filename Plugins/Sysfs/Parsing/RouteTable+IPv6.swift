// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension RouteTable {
    private static let leadsToGateway: UInt64 = 0x2
    private static let isAdvertised: UInt64 = 0x40000
    private static let ipv6Null: UInt32 = .max

    /// One of the tables that the file shows.
    private struct Part {
        var entries: [RouteEntry] = []
        var holdsOwnNetwork = false
    }

    /// Reads `/proc/net/ipv6_route`; nil when it is not such a table, or only the beginning of one, and when it does not
    /// show which of its tables is the main one.
    ///
    /// The file shows all tables of the kernel one after the other and names none. Every table ends with its default
    /// routes, or with a line that stands for their absence, so that it can be taken apart. They come in the order of
    /// their numbers modulo 256, of those that are equal the newest first (`fib6_link_table`, net/ipv6/ip6_fib.c): the
    /// local one, 255, is the last, the main one, 254, comes before it, and between the two come 511, 767 and so on.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - isComplete: Whether that is all of it.
    ///   - addresses: The addresses that are asked about.
    ///   - isOwnNetwork: Whether a route leads to the network of an address of the interface it goes through, which the
    ///     kernel adds to the main table; nil where there is no such address.
    init?(
        ipv6 text: Span<UInt8>,
        isComplete: Bool,
        covering addresses: [InternetAddress],
        isOwnNetwork: ((RouteEntry) -> Bool)? = nil
    ) {
        guard isComplete else { return nil }
        var parts: [Part] = []
        // The metric of the default route in the line before; nil after any other line.
        var formerDefault: UInt32?
        var scanner = LineScanner()
        while scanner.nextLine(in: text) {
            guard !scanner.isCut, let entry = Self.ipv6Entry(&scanner, text) else { return nil }
            let isDefault = entry.destination.length == 0
            let isNull = isDefault && entry.metric == Self.ipv6Null
            let continues = formerDefault.map { isDefault && !isNull && $0 <= entry.metric && $0 != Self.ipv6Null }
            if parts.isEmpty || continues == false { parts.append(Part()) }
            let last = parts.count - 1
            formerDefault = isDefault ? entry.metric : nil
            if !isNull, addresses.contains(where: entry.destination.contains) { parts[last].entries.append(entry) }
            if let isOwnNetwork, !parts[last].holdsOwnNetwork { parts[last].holdsOwnNetwork = isOwnNetwork(entry) }
        }
        guard let main = Self.main(among: parts, hasOwnNetworks: isOwnNetwork != nil) else { return nil }
        self.entries = main
        self.isComplete = true
    }

    private static func main(among parts: [Part], hasOwnNetworks: Bool) -> [RouteEntry]? {
        let beforeLocal = parts.dropLast()
        // A kernel without policy routing has one table for everything.
        guard let nearest = beforeLocal.last else { return parts.last?.entries ?? [] }
        if let main = beforeLocal.last(where: \.holdsOwnNetwork) { return main.entries }
        let isCertain = beforeLocal.count == 1 || beforeLocal.allSatisfy { $0.entries == nearest.entries }
        // Without an address nothing can be sent, whichever it is.
        return isCertain || !hasOwnNetworks ? nearest.entries : nil
    }

    private static func ipv6Entry(_ scanner: inout LineScanner, _ text: Span<UInt8>) -> RouteEntry? {
        let destination = text.hexadecimal128(scanner.nextWord(in: text))
        let length = text.hexadecimal(scanner.nextWord(in: text))
        _ = scanner.nextWord(in: text)  // source
        let sourceLength = text.hexadecimal(scanner.nextWord(in: text))
        let gateway = text.hexadecimal128(scanner.nextWord(in: text))
        let metric = text.hexadecimal(scanner.nextWord(in: text))
        _ = scanner.nextWord(in: text)  // references
        _ = scanner.nextWord(in: text)  // uses
        let flags = text.hexadecimal(scanner.nextWord(in: text))
        let name = text.interfaceName(scanner.nextWord(in: text))
        guard let destination, let length, length <= 128, let sourceLength, let gateway, let flags, let name,
            let metric = metric.flatMap(UInt32.init(exactly:))
        else { return nil }
        var entry = RouteEntry(
            destination: AddressPrefix(InternetAddress(ipv6: destination), length: Int(length)),
            gateway: flags & Self.leadsToGateway == 0 ? nil : InternetAddress(ipv6: gateway),
            metric: metric,
            interface: name
        )
        if flags & Self.rejects != 0 {
            entry.interface = nil
            entry.isRefusal = true
        }
        entry.isAdvertised = flags & Self.isAdvertised != 0
        entry.sharesPackets = entry.gateway != nil && !entry.isAdvertised
        // A route for certain sources only is none for the internet; the length no address has keeps it from covering.
        if sourceLength != 0 { entry.destination = AddressPrefix(InternetAddress(ipv6: 0), length: 128) }
        return entry
    }
}
