// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Metrics as text: that of Prometheus (0.0.4), or OpenMetrics 1.0, which calls counters differently.
///
/// Its functions are called at thirty places and inlined at none: size counts, time does not.
package struct MetricsText: Sendable {
    /// What tells the samples of a family apart.
    package typealias Labels = KeyValuePairs<String, String>

    /// A number.
    package struct Sample: Sendable {
        fileprivate var value: String
        fileprivate var labels: [(key: String, value: String)]

        package init(_ value: some CustomStringConvertible, _ labels: Labels = [:]) {
            self.value = value.description
            self.labels = Array(labels)
        }

        init(_ sample: BackendMetric.Sample, of backend: String) {
            // 1e+16 is a number as well, and 5.0 is not what a person expects.
            self.value = Int64(exactly: sample.value)?.description ?? sample.value.description
            self.labels = [("backend", backend)] + sample.labels.sorted { $0.key < $1.key }
        }

        package init(_ value: Bool, _ labels: Labels = [:]) {
            self.init(value ? 1 : 0, labels)
        }

        /// States of which one holds, a sample each.
        ///
        /// - Parameters:
        ///   - label: What tells them apart, besides the labels that tell whose they are.
        ///   - states: Their names.
        ///   - current: The one that holds.
        ///   - labels: Whose they are; none where there is one set only.
        /// - Returns: The samples.
        @inline(never)
        static func states(_ label: String, _ states: [String], current: String, _ labels: Labels = [:]) -> [Sample] {
            states.map { state in
                var sample = Sample(state == current, labels)
                sample.labels.append((key: label, value: state))
                return sample
            }
        }
    }

    let isOpenMetrics: Bool
    /// The last line of OpenMetrics.
    package static let end = "# EOF\n"
    package private(set) var text = ""

    package init(isOpenMetrics: Bool) {
        self.isOpenMetrics = isOpenMetrics
    }

    /// A family of numbers that may go up and down.
    @inline(never)
    package mutating func gauge(_ name: StaticString, _ help: StaticString, _ samples: [Sample]) {
        self.family("\(name)", .gauge, "\(help)", samples)
    }

    /// A family of numbers that only grow; `name` is without `_total`.
    @inline(never)
    mutating func counter(_ name: StaticString, _ help: StaticString, _ samples: [Sample]) {
        self.family("\(name)", .counter, "\(help)", samples)
    }

    /// A family, which is left out where there are no numbers.
    @inline(never)
    mutating func family(_ name: String, _ kind: BackendMetric.Kind, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        // Quotes are escaped in the help of OpenMetrics, and must not be in that of Prometheus.
        let help = String(help.map { $0 == "\"" ? "'" : $0 })
        self.begin(name, kind.rawValue, Self.escaped(help))
        for sample in samples { self.sample(kind == .counter ? name + "_total" : name, sample.labels, sample.value) }
    }

    /// Writes metrics into a file for node_exporter's textfile collector, which replaces the former one atomically.
    ///
    /// - Throws: `SystemError`.
    package static func write(_ text: String, to file: String) throws {
        try NewFile.replace(file, with: text)
    }

    @inline(never)
    private mutating func begin(_ name: String, _ type: String, _ help: String) {
        let shown = type == "counter" && !self.isOpenMetrics ? "\(name)_total" : name
        self.text += "# HELP \(shown) \(help)\n# TYPE \(shown) \(type)\n"
    }

    @inline(never)
    private mutating func sample(_ name: String, _ labels: [(key: String, value: String)], _ value: String) {
        // Names come from outside, and metrics are looked at on terminals, too.
        let shown = labels.map { "\($0.key)=\"\(Self.escaped($0.value.printable(limit: 256)))\"" }
            .joined(separator: ",")
        self.text += shown.isEmpty ? "\(name) \(value)\n" : "\(name){\(shown)} \(value)\n"
    }

    @inline(never)
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 }) else { return value }
        return value.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            default: String(scalar)
            }
        }.joined()
    }
}

extension MetricsText {
    /// A family of histograms, in seconds.
    @inline(never)
    mutating func histogram(
        _ name: StaticString,
        _ help: StaticString,
        _ histograms: [(labels: Labels, times: TimeHistogram)]
    ) {
        guard !histograms.isEmpty else { return }
        self.begin("\(name)", "histogram", "\(help)")
        for (labels, times) in histograms {
            let labels = Array(labels)
            var count = 0
            for (place, number) in times.counts.enumerated() {
                count += number
                let bound = place < times.bounds.count ? Duration.nanoseconds(times.bounds[place]).seconds : "+Inf"
                self.sample("\(name)_bucket", labels + [(key: "le", value: bound)], "\(count)")
            }
            self.sample("\(name)_sum", labels, times.sum.seconds)
            self.sample("\(name)_count", labels, "\(count)")
        }
    }
}

extension Duration {
    /// In seconds with as many places as it takes: `0.00025`.
    var seconds: String {
        let nanoseconds = self.inNanoseconds
        let fraction = nanoseconds.magnitude % 1_000_000_000
        var text = (nanoseconds < 0 ? "-" : "") + "\(nanoseconds.magnitude / 1_000_000_000)"
        guard fraction > 0 else { return text + ".0" }
        let digits = String(fraction)
        text += "." + String(repeating: "0", count: 9 - digits.count) + digits
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
