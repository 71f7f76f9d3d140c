// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// A question to the service: an object of JSON on a line.
enum ServiceRequest: Hashable, Sendable {
    /// `{"request":"status"}`: the document of `status`, on a line.
    case status
    /// `{"request":"watch"}`: that document now and whenever it changes, until the client goes.
    case watch
    /// `{"request":"snapshot"}`: what that document is made of, for netpath itself.
    case snapshot
    /// `{"request":"hooks"}`: what became of the hooks.
    case hooks
    /// `{"request":"history","since":SECONDS}`: the lines of the recording that tell of paths, from a moment on that is so
    /// many seconds after 1970 began, with those before it that are in the same file.
    case history(since: Int64)
    /// `{"request":"metrics"}`: what is counted, as `{"text":…}` in the format of Prometheus, or, with
    /// `"format":"openMetrics"`, in that of OpenMetrics.
    case metrics(isOpenMetrics: Bool)
    /// `{"request":"details"}`: what explains the path, and the latest round trips of probes.
    case details
    /// Anything else.
    case unknown

    /// The seconds that 64 bits hold in nanoseconds: the years 1677 to 2262.
    private static let seconds = -Int64.max / 1_000_000_000...Int64.max / 1_000_000_000

    /// Reads a line.
    init(_ line: ArraySlice<UInt8>) {
        let node = try? JSONReader.read(line)
        switch (node?["request"], node?["since"]) {
        case (.string("status")?, _): self = .status
        case (.string("watch")?, _): self = .watch
        case (.string("snapshot")?, _): self = .snapshot
        case (.string("hooks")?, _): self = .hooks
        case (.string("metrics")?, _): self = .metrics(isOpenMetrics: node?["format"] == .string("openMetrics"))
        case (.string("details")?, _): self = .details
        case (.string("history")?, .integer(let since)?) where Self.seconds.contains(since):
            self = .history(since: since)
        default: self = .unknown
        }
    }

    /// The line.
    var line: String {
        switch self {
        case .status: #"{"request":"status"}"#
        case .watch: #"{"request":"watch"}"#
        case .snapshot: #"{"request":"snapshot"}"#
        case .hooks: #"{"request":"hooks"}"#
        case .history(let since): #"{"request":"history","since":\#(since)}"#
        case .metrics(let isOpenMetrics):
            isOpenMetrics ? #"{"request":"metrics","format":"openMetrics"}"# : #"{"request":"metrics"}"#
        case .details: #"{"request":"details"}"#
        case .unknown: "{}"
        }
    }

    /// What a connection gets that is one too many.
    static let tooManyConnections: JSONNode = [
        "error": .string("there are too many connections, of this user or in total: close one, or try again")
    ]

    /// The answer to what is no question.
    static let refusal: JSONNode = [
        "error": .string(
            #"ask with one of {"request":"status"}, {"request":"watch"}, {"request":"hooks"}, {"request":"metrics"}, "#
                + #"{"request":"details"} and {"request":"history","since":SECONDS}, "#
                + "on a line of at most \(ServiceLimits().question) bytes"
        )
    ]
}
