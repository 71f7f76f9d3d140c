// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A family of numbers that a backend gives beside what it reports, for metrics: the signal of an access point, say.
///
/// Exported as `netpath_plugin_` with the name behind it and the backend as a label. Numbers never make another path.
public struct BackendMetric: Hashable, Sendable {
    /// Whether the numbers may fall.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// They go up and down.
        case gauge
        /// They only grow, and begin anew at 0.
        case counter
    }

    /// A number.
    public struct Sample: Hashable, Sendable {
        /// The number; a finite one.
        public var value: Double
        /// What tells it apart from the others of the family.
        public var labels: [String: String]

        /// Creates a sample.
        public init(_ value: Double, _ labels: [String: String] = [:]) {
            self.value = value
            self.labels = labels
        }
    }

    /// The name in snake_case, with the unit and without `_total`, such as `signal_dbm`.
    public var name: String
    /// A sentence for people.
    public var help: String
    /// Whether the numbers may fall.
    public var kind: Kind
    /// The numbers.
    public var samples: [Sample]

    /// Creates a family.
    public init(_ name: String, _ help: String, kind: Kind = .gauge, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }
}

extension BackendMetric {
    /// The most families that a backend may give.
    public static let familyLimit = 32
    /// The most numbers that a backend may give in all.
    public static let sampleLimit = 256
    /// The most labels of a number.
    public static let labelLimit = 8

    /// What of a backend's metrics can be exported, with texts that are short enough; and what cannot, as a sentence.
    package static func accepted(_ metrics: [BackendMetric]) -> (metrics: [BackendMetric], complaint: String?) {
        var accepted: [BackendMetric] = []
        var names: Set<String> = []
        var complaint: String?
        var room = self.sampleLimit
        for var metric in metrics {
            guard Self.isName(metric.name), !metric.name.hasSuffix("_total"), names.insert(metric.name).inserted else {
                complaint = "the metric '\(metric.name.printable(limit: 64))' has no name of its own in snake_case"
                continue
            }
            guard accepted.count < self.familyLimit else {
                complaint = "of its metrics only the first \(self.familyLimit) are kept"
                break
            }
            let usable = metric.samples.filter(\.isUsable)
            if usable.count < metric.samples.count {
                complaint = "a sample of the metric '\(metric.name)' lacks a finite number or valid labels"
            }
            var seen: Set<[String: String]> = []
            let distinct = usable.map(\.shortened).filter { seen.insert($0.labels).inserted }
            if distinct.count > room {
                complaint = "of its metrics only the first \(self.sampleLimit) numbers are kept"
            }
            metric.samples = Array(distinct.prefix(room))
            room -= metric.samples.count
            metric.help = metric.help.printable(limit: 200)
            if !metric.samples.isEmpty { accepted.append(metric) }
        }
        return (accepted, complaint)
    }

    /// Whether a text is a name as Prometheus has it, in lower case and of 64 bytes at most.
    fileprivate static func isName(_ text: String) -> Bool {
        let lowercase = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = text.utf8.first, lowercase.contains(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy {
            lowercase.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
        }
    }
}

extension BackendMetric.Sample {
    fileprivate var isUsable: Bool {
        self.value.isFinite && self.labels.count <= BackendMetric.labelLimit
            && self.labels.keys.allSatisfy { BackendMetric.isName($0) && $0 != "backend" && $0 != "le" }
    }

    fileprivate var shortened: Self { Self(self.value, self.labels.mapValues { $0.printable(limit: 128) }) }
}
