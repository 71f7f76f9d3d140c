// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// What configuration is in force, and whether the one on disk was accepted.
struct ConfigurationStanding: Sendable, Codable {
    /// The file it was read from, or what stands in for one.
    var origin: String
    /// A number that is another one when any value is, in hexadecimal.
    var hash: String
    /// When it was put in force: nanoseconds since 1970.
    var loadedAt: Int64
    /// What is wrong with the one on disk, the first thing of it; nil when it is the one in force.
    private(set) var refusal: String?
    /// How often one was refused.
    private(set) var refusals: Int
    /// A number that is the same where the same is wrong in the same place of a file, in hexadecimal.
    private(set) var errorHash: String?

    init(_ configuration: LoadedConfiguration, at wall: WallTime, refusals: Int = 0) {
        self.origin = configuration.origin
        self.hash = String(configuration.hash, radix: 16)
        self.loadedAt = wall.nanoseconds
        self.refusals = refusals
    }

    /// The one on disk was refused.
    mutating func refuse(_ error: ConfigurationError) {
        self.refusal = error.lines.first
        self.refusals += 1
        self.errorHash = String(error.hash, radix: 16)
    }

    /// Leaves out what quotes the file, which need not be for everybody.
    mutating func hideRefusal() {
        if self.refusal != nil { self.refusal = "the log of the service says why" }
    }

    /// What is said of a configuration that was refused; nil when none was.
    var remark: String? {
        self.refusal.map { refusal in
            "the configuration on disk is refused, and \(self.origin) as it was before is in force: \(refusal)"
        }
    }
}

extension ConfigurationError {
    /// What is wrong, a line each, without the lines that are quoted.
    var lines: [String] { self.diagnostics.map { String($0.description.prefix { $0 != "\n" }) } }

    /// A number for what is wrong first, and where, whatever the file is called.
    fileprivate var hash: UInt64 {
        let first = self.diagnostics[0]
        return "\(first.position.map(\.description) ?? "") \(first.path) \(first.message)".hash64
    }
}
