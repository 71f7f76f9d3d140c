// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

/// What a column says: a status with its reason, or nothing.
struct Cell: Hashable, Sendable {
    /// Nil without an opinion.
    let status: PathStatus?
    /// Nil without an opinion.
    let reason: PathReason.Code?

    /// The kernel routes packets to the internet.
    static let routed = Cell(status: .satisfied, reason: .routed)
    /// A probe target answered.
    static let answered = Cell(status: .satisfied, reason: .probeAnswered)
    /// No probe target answered.
    static let unanswered = Cell(status: .unsatisfied, reason: .probeFailed)
    /// No opinion, which never means "no".
    static let silent = Cell(status: nil, reason: nil)

    static func no(_ reason: PathReason.Code) -> Cell { Cell(status: .unsatisfied, reason: reason) }
    static func step(_ reason: PathReason.Code) -> Cell { Cell(status: .requiresConnection, reason: reason) }
}

extension Cell {
    /// Reads the cell from a path, or from one backend's part of it: both have a status and a reason.
    init(_ value: JSONValue) {
        self.status = value["status"]?.string.flatMap(PathStatus.init(rawValue:))
        self.reason = (value["reason"]?["code"]?.string).map(PathReason.Code.init(rawValue:))
    }
}

extension Cell: CustomStringConvertible {
    var description: String {
        switch (self.status, self.reason) {
        case (let status?, let reason?): "\(status.rawValue)(\(reason.rawValue))"
        default: "no opinion"
        }
    }

    /// The cell in the documentation, where the reasons of a yes go without saying.
    var documentation: String {
        switch (self.status, self.reason) {
        case (.satisfied, _): "yes"
        case (.unsatisfied, let reason?): "no: `\(reason.rawValue)`"
        case (.requiresConnection, let reason?): "step: `\(reason.rawValue)`"
        default: "–"
        }
    }
}
