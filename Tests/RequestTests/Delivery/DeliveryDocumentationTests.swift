// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Testing

@testable import OfflineRequests

/// The tables in Delivery.md are what the code does.
struct DeliveryDocumentationTests {
    /// The rows of the table under those headings, without them.
    private func table(_ headings: String) throws -> [[String]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/OfflineRequests/OfflineRequests.docc/Delivery.md")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: headings)) + 2
        return lines[start...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func outcome(_ status: Int, _ key: IdempotencyKey) -> String {
        let request = RetryableRequest(endpoint: "http://e.net/", method: "POST", idempotencyKey: key)
        var lab = MachineLab()
        lab.online()
        return switch lab.attempt(request, .status(status)) {
        case .succeeded: "delivered"
        case .hold: "held"
        case .retry(_, countsAttempt: true): "tried again"
        case .dead: "given up"
        default: "something else"
        }
    }

    @Test func statuses() throws {
        var documented: [Int: [String]] = [:]
        var others: [String] = []
        for row in try self.table("| status | with a key | without a key |") {
            let outcomes = Array(row[1...])
            if row[0] == "any other" { others = outcomes }
            for part in row[0].components(separatedBy: ", ") {
                let ends = part.split(separator: "–").compactMap { Int($0) }
                guard let first = ends.first, let last = ends.last else { continue }
                for status in first...last { documented[status] = outcomes }
            }
        }
        #expect(documented.count == 111)
        for status in 100...599 {
            let expected = documented[status] ?? others
            #expect([self.outcome(status, .automatic), self.outcome(status, .none)] == expected, "\(status)")
        }
    }

    @Test func reasons() throws {
        let documented = try self.table("| code | it goes when |").map { $0[0].replacing("`", with: "") }
        #expect(Set(documented) == Set(RequestCodingTests.reasons.map(\.code)))
        #expect(documented.count == RequestCodingTests.reasons.count)
    }

    @Test func defaults() throws {
        let documented = try self.table("| ``QueueSettings`` | default |")
        let settings = Mirror(reflecting: QueueSettings()).children.prefix { $0.label != "maxCount" }.map { child in
            let value = (child.value as? Duration).map { "\(Int($0 / .seconds(1))) s" } ?? "\(child.value)"
            return ["`\(child.label ?? "")`", value]
        }
        #expect(documented == settings)
    }
}
