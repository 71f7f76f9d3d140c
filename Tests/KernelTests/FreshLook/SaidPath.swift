// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// What a document says of the path, as far as two programs that look at one network have to agree.
struct SaidPath: Sendable {
    /// What has to be the same.
    private let facts: [Fact]
    /// The status; nil without a verdict.
    let status: String?
    /// The reason, for people.
    let message: String

    private struct Fact: Equatable {
        let name: String
        let value: String
    }

    /// Reads it from a document of `status` or a line of `watch`.
    init(_ document: JSONValue) {
        let interfaces = document["interfaces"]?.elements ?? []
        let egress = interfaces.filter { $0["reason"]?["code"] == "routed" }.map { $0["name"]?.string ?? "?" }
        let carrier = document["carriedBy"].flatMap { index in
            interfaces.first { $0["index"] == index }?["name"]?.string ?? index.number.map { "interface \(Int($0))" }
        }
        self.status = document["status"]?.string
        self.message = document["reason"]?["message"]?.string ?? ""
        self.facts =
            [
                Fact(name: "status", value: self.status ?? "null"),
                Fact(name: "reason", value: document["reason"]?["code"]?.string ?? "null"),
                Fact(name: "through", value: egress.joined(separator: ",")),
                Fact(name: "carriedBy", value: carrier ?? "null"),
            ]
            + ["supportsIPv4", "supportsIPv6", "supportsDNS", "isExpensive", "isConstrained"].map { name in
                Fact(name: name, value: document[name]?.bool.map { "\($0)" } ?? "null")
            }
    }

    /// Whether there is a path, and the reason says what is not certain about it, or that a part of the packets is lost.
    var isDoubtful: Bool {
        let rest = self.message.components(separatedBy: "; ").dropFirst()
        return self.status == "satisfied"
            && rest.contains { $0.hasPrefix("it is unknown whether ") || $0.hasSuffix(" is lost") }
    }

    /// The names of what another one says otherwise, with both values; nil when it says the same.
    func difference(from other: SaidPath) -> String? {
        let differing = zip(self.facts, other.facts).filter { $0 != $1 }
        if differing.isEmpty { return nil }
        let texts = differing.map { "\($0.name) \($0.value) instead of \($1.value)" }
        return "\(texts.joined(separator: ", ")) (\"\(self.message)\" instead of \"\(other.message)\")"
    }
}
