// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

/// What configuration is in force, and whether the one on disk was accepted.
struct ConfigurationStanding: Sendable, Codable {
    /// The file it was read from, or what stands in for one.
    var origin: String
    /// A number that is another one when any value is, in hexadecimal.
    var hash: String
    /// When it was put in force: nanoseconds since 1970.
    var loadedAt: Int64
    /// What is wrong with the one on disk, the first thing of it; nil when it is the one in force.
    var refusal: String?

    init(_ configuration: LoadedConfiguration, at wall: WallTime, refusal: String? = nil) {
        self.origin = configuration.origin
        self.hash = String(configuration.hash, radix: 16)
        self.loadedAt = wall.nanoseconds
        self.refusal = refusal
    }

    /// What is said of a configuration that was refused; nil when none was.
    var remark: String? {
        self.refusal.map { "the configuration on disk is refused, and \(self.origin) is in force: \($0)" }
    }
}

extension ConfigurationError {
    /// What is wrong, a line each, without the lines that are quoted.
    var lines: [String] { self.diagnostics.map { String($0.description.prefix { $0 != "\n" }) } }
}
