// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// What a backend, or a merged path, says: a status with its reason, or nothing.
public struct ScenarioCell: Hashable, Sendable {
    /// Nil without a verdict.
    public let status: PathStatus?
    /// Nil without a verdict.
    public let reason: PathReason.Code?

    /// The kernel routes packets to the internet.
    public static let routed = ScenarioCell(status: .satisfied, reason: .routed)
    /// A probe target answered.
    public static let answered = ScenarioCell(status: .satisfied, reason: .probeAnswered)
    /// No probe target answered.
    public static let unanswered = ScenarioCell(status: .unsatisfied, reason: .probeFailed)
    /// No verdict, which never means "no".
    public static let silent = ScenarioCell(status: nil, reason: nil)

    /// There is no path.
    public static func no(_ reason: PathReason.Code) -> ScenarioCell {
        ScenarioCell(status: .unsatisfied, reason: reason)
    }
    /// A step is pending, or can be started.
    public static func step(_ reason: PathReason.Code) -> ScenarioCell {
        ScenarioCell(status: .requiresConnection, reason: reason)
    }
}

extension ScenarioCell {
    /// Reads the cell from a path, or from one backend's part of it: both have a status and a reason.
    package init(_ value: JSONValue) {
        self.status = value["status"]?.string.flatMap(PathStatus.init(rawValue:))
        self.reason = (value["reason"]?["code"]?.string).map(PathReason.Code.init(rawValue:))
    }
}

extension ScenarioCell: CustomStringConvertible {
    /// `status(reason)`.
    public var description: String {
        switch (self.status, self.reason) {
        case (let status?, let reason?): "\(status.rawValue)(\(reason.rawValue))"
        default: "no verdict"
        }
    }

    /// The cell in the documentation, where the reasons of a yes go without saying.
    package var documentation: String {
        switch (self.status, self.reason) {
        case (.satisfied, _): "yes"
        case (.unsatisfied, let reason?): "no: `\(reason.rawValue)`"
        case (.requiresConnection, let reason?): "step: `\(reason.rawValue)`"
        default: "–"
        }
    }
}
