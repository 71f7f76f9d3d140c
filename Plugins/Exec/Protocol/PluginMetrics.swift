// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import Synchronization

extension BackendMetric {
    /// Reads the numbers of a plugin; whether they can be exported the coordinator says.
    static func list(_ node: JSONNode) throws(PluginFault) -> [BackendMetric] {
        try node.elements("metrics").map(BackendMetric.init)
    }

    /// What ``PluginCounters`` counts, which no plugin may give.
    fileprivate static let ownNames: Set<String> = ["ends", "dropped_lines"]

    private init(_ node: JSONNode) throws(PluginFault) {
        let name = try node.object("metrics").required("name").text("name")
        guard !Self.ownNames.contains(name) else {
            throw PluginFault("has a metric '\(name)', which netpath counts itself; give it another name")
        }
        let kind = try node["type"]?.choice("type", among: Kind.self)
        // One number needs no list.
        let elements = node["samples"] == nil ? [node] : try node.list("samples")
        self.init(
            name,
            try node.optionalText("help") ?? name,
            kind: kind ?? .gauge,
            samples: try elements.map(Sample.init)
        )
    }
}

extension BackendMetric.Sample {
    fileprivate init(_ node: JSONNode) throws(PluginFault) {
        let value: Double
        switch try node.object("samples").required("value") {
        case .integer(let integer): value = Double(integer)
        case .number(let number): value = number
        case let other: throw PluginFault("has 'value' as \(other.kind), not as a number")
        }
        var labels: [String: String] = [:]
        if case .object(let members)? = node["labels"] {
            for (name, text) in members { labels[name] = try text.text("labels") }
        } else if node["labels"] != nil {
            throw PluginFault("has 'labels' as something else than an object")
        }
        self.init(value, labels)
    }
}

/// Why a run of a plugin ended that was still wanted.
enum PluginEnd: String, Hashable, Sendable {
    /// It could not be started.
    case start
    /// It ended by itself.
    case exit
    /// A signal ended it.
    case signal
    /// It was ended for a line that is none of the protocol, or for half a line.
    case breach
    /// It was ended for its silence: no hello, no heartbeat, or no answer to a refresh.
    case silence
    /// It closed its output or its input, or does not read what it asked for.
    case closed
}

/// What is counted of a plugin over all its runs, and the numbers that it gives itself.
final class PluginCounters: Sendable {
    /// Lines that come to nothing.
    enum Dropped: String, Hashable, Sendable {
        /// A message to the operator, of too many within a second.
        case message
        /// A report that a newer one replaced before it counted.
        case report
    }

    private struct State {
        var ends: [PluginEnd: Int] = [:]
        var dropped: [Dropped: Int] = [:]
        var given: [BackendMetric] = []
    }

    private let state = Mutex(State())

    /// The numbers that the plugin gives; none when it has ended.
    func take(_ metrics: [BackendMetric]) { self.state.withLock { $0.given = metrics } }

    func count(_ end: PluginEnd) { self.state.withLock { $0.ends[end, default: 0] += 1 } }

    func count(_ dropped: Dropped, _ number: Int) {
        self.state.withLock { $0.dropped[dropped, default: 0] += number }
    }

    /// All of it.
    var metrics: [BackendMetric] {
        self.state.withLock { state in
            [
                BackendMetric(
                    "ends",
                    "Unexpected ends of the plugin, by reason.",
                    kind: .counter,
                    samples: state.ends.map { .init(Double($0.value), ["reason": $0.key.rawValue]) }
                ),
                BackendMetric(
                    "dropped_lines",
                    "Lines of the plugin that come to nothing: messages that are too many, reports that come too fast.",
                    kind: .counter,
                    samples: state.dropped.map { .init(Double($0.value), ["kind": $0.key.rawValue]) }
                ),
            ].filter { !$0.samples.isEmpty } + state.given
        }
    }
}
