// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the server itself has to tell.
package struct ServerCounters: Sendable {
    package var connections = 0
    package var streams = 0
    package var refusedConnections = 0
    package var stalledStreams = 0
    private var answers: [Int: Int] = [:]

    package init() {}

    mutating func count(_ status: Int) { self.answers[status, default: 0] += 1 }

    /// The families as text for Prometheus.
    package func text(isOpenMetrics: Bool) -> String {
        var text = ""
        func family(_ name: String, _ type: String, _ help: String, _ samples: [(String, Int)]) {
            let total = type == "counter" ? "_total" : ""
            let shown = isOpenMetrics ? name : name + total
            text += "# HELP \(shown) \(help)\n# TYPE \(shown) \(type)\n"
            for (labels, value) in samples { text += "\(name)\(total)\(labels) \(value)\n" }
        }
        family("netpath_serve_connections", "gauge", "Connections to the server.", [("", self.connections)])
        family("netpath_serve_streams", "gauge", "Clients that get events.", [("", self.streams)])
        family(
            "netpath_serve_refused_connections",
            "counter",
            "Connections that were closed because there were too many.",
            [("", self.refusedConnections)]
        )
        family(
            "netpath_serve_stalled_streams",
            "counter",
            "Clients of events that were let go since they took nothing.",
            [("", self.stalledStreams)]
        )
        family(
            "netpath_serve_answers",
            "counter",
            "Answers by their status.",
            self.answers.sorted { $0.key < $1.key }.map { ("{code=\"\($0.key)\"}", $0.value) }
        )
        return text
    }
}
