// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A column of the table: a configuration of the program.
package enum ScenarioColumn: String, CaseIterable, Sendable {
    /// The kernel's events and forwarding decisions, alone.
    case netlink
    /// sysfs and procfs, polled, alone.
    case sysfs
    /// Connections to a target, alone.
    case tcpProbe
    /// All three; the probe only advises.
    case merged
    /// All three; without an answer to the probe there is no path.
    case required

    /// The port its probes go to, which tells the server who connects.
    package var port: Int { 443 + (Self.allCases.firstIndex(of: self) ?? 0) }

    package static var ports: [Int] { Self.allCases.map(\.port) }

    /// The types of its backends.
    package var backends: [String] {
        switch self {
        case .netlink, .sysfs, .tcpProbe: [self.rawValue]
        case .merged, .required: [ScenarioColumn.netlink, .sysfs, .tcpProbe].map(\.rawValue)
        }
    }

    /// Its configuration, polling and probing as often as that can be configured.
    ///
    /// - Parameters:
    ///   - targets: The hosts to probe, without a port.
    ///   - resolverFile: The file that names the DNS servers.
    /// - Returns: The configuration as YAML.
    package func configuration(targets: [String], resolverFile: String) -> String {
        let targets = targets.map { "\"\($0):\(self.port)\"" }.joined(separator: ", ")
        let options = [
            "netlink": "resolvConf: \(resolverFile)",
            "sysfs": "mode: active, interval: 200ms, fastInterval: 100ms, resolvConf: \(resolverFile)",
            "tcpProbe": "targets: [\(targets)], interval: 1s, timeout: 1500ms, stagger: 100ms, maxPerMinute: 600",
        ]
        let entries = self.backends.map { "  - {type: \($0), \(options[$0] ?? "")}\n" }.joined()
        return "backends:\n\(entries)" + (self == .required ? "merge: {probes: required}\n" : "")
    }
}
