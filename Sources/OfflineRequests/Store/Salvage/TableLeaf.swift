// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A value of a row in the file of a database.
enum SalvagedValue: Hashable, Sendable {
    case null
    case number(Int64)
    case text(String)
    case octets(Data)
    case other

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var octets: Data? { if case .octets(let octets) = self { octets } else { nil } }
}

/// The rows in a page that is a leaf of a table, read without trusting anything that the page says
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
struct TableLeaf {
    /// A row: its number, and its columns.
    struct Row {
        var number: Int64
        var values: [SalvagedValue]
    }

    /// The rows; none in a page of another kind.
    private(set) var rows: [Row] = []

    init(page number: Int, of pages: DatabasePages) {
        let page = pages.page(number)
        // The first page begins with the header of the file.
        let header = number == 1 ? 100 : 0
        guard page.count >= header + 8, page[header] == 0x0D else { return }
        for cell in 0..<page.number(at: header + 3, octets: 2) {
            let pointer = header + 8 + 2 * cell
            guard pointer + 2 <= page.count else { return }
            if let row = Self.row(in: page, at: page.number(at: pointer, octets: 2), of: pages) {
                self.rows.append(row)
            }
        }
    }

    private static func row(in page: [UInt8], at start: Int, of pages: DatabasePages) -> Row? {
        var cell = OctetReader(page, at: start)
        guard let size = cell.variable(), let number = cell.variable(), 0...(1 << 24) ~= size,
            let payload = self.payload(Int(size), in: page, at: cell.index, of: pages)
        else { return nil }
        return self.values(payload).map { Row(number: number, values: $0) }
    }

    /// The payload of a cell, what did not fit into its page included.
    private static func payload(_ size: Int, in page: [UInt8], at start: Int, of pages: DatabasePages) -> [UInt8]? {
        let usable = DatabasePages.size
        var local = size
        if size > usable - 35 {
            let least = (usable - 12) * 32 / 255 - 23
            let part = least + (size - least) % (usable - 4)
            local = part <= usable - 35 ? part : least
        }
        guard start + local <= page.count else { return nil }
        var payload = Array(page[start..<(start + local)])
        guard local < size else { return payload }
        var next = page.number(at: start + local, octets: 4)
        // Every page has some of it, so that a chain in a circle ends too.
        while payload.count < size {
            guard next > 1, next <= pages.count else { return nil }
            let overflow = pages.page(next)
            guard overflow.count == usable else { return nil }
            payload += overflow[4..<min(usable, 4 + size - payload.count)]
            next = overflow.number(at: 0, octets: 4)
        }
        return payload
    }

    /// The columns of a record (https://www.sqlite.org/fileformat2.html#record_format).
    private static func values(_ payload: [UInt8]) -> [SalvagedValue]? {
        var header = OctetReader(payload, at: 0)
        guard let end = header.variable(), 0...Int64(payload.count) ~= end else { return nil }
        var index = Int(end)
        var values: [SalvagedValue] = []
        while header.index < Int(end) {
            guard let type = header.variable() else { return nil }
            let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0]
            let size = 0..<12 ~= type ? sizes[Int(type)] : Int(clamping: (type - 12) / 2)
            guard type >= 0, size <= payload.count - index else { return nil }
            let octets = payload[index..<(index + size)]
            index += size
            switch type {
            case 0: values.append(.null)
            case 1...6:
                let bits = octets.reduce(octets.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0 as Int64) { $0 << 8 | Int64($1) }
                values.append(.number(bits))
            case 8, 9: values.append(.number(type - 8))
            case 12... where type % 2 == 0: values.append(.octets(Data(octets)))
            case 12...: values.append(.text(String(decoding: octets, as: UTF8.self)))
            default: values.append(.other)
            }
        }
        return values
    }
}

/// Reads SQLite's numbers of variable length.
private struct OctetReader {
    private let octets: [UInt8]
    private(set) var index: Int

    init(_ octets: [UInt8], at index: Int) {
        self.octets = octets
        self.index = index
    }

    mutating func variable() -> Int64? {
        var number: UInt64 = 0
        for place in 0..<9 {
            guard self.index < self.octets.count else { return nil }
            let octet = self.octets[self.index]
            self.index += 1
            if place == 8 { return Int64(bitPattern: number << 8 | UInt64(octet)) }
            number = number << 7 | UInt64(octet & 0x7F)
            if octet < 0x80 { break }
        }
        return Int64(bitPattern: number)
    }
}
