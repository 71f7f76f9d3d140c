// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB

/// The columns of a row, of which a damaged database may say anything: GRDB's own access traps on the wrong type.
struct Columns {
    private let row: Row

    init(_ row: Row) { self.row = row }

    func number(_ index: Int) throws -> Int64 {
        guard let number = self.optionalNumber(index) else { throw Damage(reason: "a column has no number") }
        return number
    }

    func optionalNumber(_ index: Int) -> Int64? {
        if case .int64(let number) = self.storage(index) { number } else { nil }
    }

    func text(_ index: Int) throws -> String {
        guard let text = self.optionalText(index) else { throw Damage(reason: "a column has no text") }
        return text
    }

    func optionalText(_ index: Int) -> String? {
        if case .string(let text) = self.storage(index) { text } else { nil }
    }

    func octets(_ index: Int) throws -> Data {
        guard let octets = self.optionalOctets(index) else { throw Damage(reason: "a column has no octets") }
        return octets
    }

    func optionalOctets(_ index: Int) -> Data? {
        if case .blob(let octets) = self.storage(index) { octets } else { nil }
    }

    func id(_ index: Int) throws -> UUID {
        guard let id = UUID(octets: try self.octets(index)) else {
            throw Damage(reason: "a column has no id")
        }
        return id
    }

    private func storage(_ index: Int) -> DatabaseValue.Storage {
        guard index < self.row.count else { return .null }
        let value: DatabaseValue = self.row[index]
        return value.storage
    }
}
