// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Addresses as procfs writes them.
enum HexadecimalAddresses {
    /// A table with its addresses as people write them.
    ///
    /// - Parameters:
    ///   - text: The table.
    ///   - columns: Which columns hold addresses of IPv4, whose bytes stand in the order of the machine.
    /// - Returns: The table.
    static func readable(_ text: String, columns: Set<Int>) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { (line: Substring) -> String in
            var column = -1
            return line.split(separator: "\t", omittingEmptySubsequences: false).map { (cell: Substring) -> String in
                cell.split(separator: " ", omittingEmptySubsequences: false).map { (word: Substring) -> String in
                    if !word.isEmpty { column += 1 }
                    return self.address(word, isIPv4: columns.contains(column)) ?? String(word)
                }.joined(separator: " ")
            }.joined(separator: "\t")
        }.joined(separator: "\n")
    }

    private static func address(_ word: Substring, isIPv4: Bool) -> String? {
        switch word.utf8.count {
        case 32: return UInt128(word, radix: 16).map { InternetAddress(ipv6: $0).description }
        case 8 where isIPv4:
            return UInt32(word, radix: 16).map { InternetAddress(ipv4: UInt32(bigEndian: $0)).description }
        default: return nil
        }
    }
}
