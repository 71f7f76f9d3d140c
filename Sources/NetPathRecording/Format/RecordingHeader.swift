// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What stands at the beginning of a recording, and of each of its files.
package struct RecordingHeader: Hashable, Sendable, Codable {
    /// The version of the format that this program writes; it reads this one and older ones.
    package static let format = 1

    /// The version of the format.
    package var recording: Int
    /// The version of netpath that wrote it.
    package var netpath: String
    /// The boot of the machine, by which monotonic times compare; nil when it is not known.
    package var boot: String?
    /// Whether the same program goes on, in another file.
    package var continues = false
    /// The configuration in force, as YAML; nil when there is none.
    package var configuration: String?

    /// Describes a recording of this format.
    package init(netpath: String, boot: String? = nil, configuration: String? = nil) {
        self.recording = Self.format
        self.netpath = netpath
        self.boot = boot
        self.configuration = configuration
    }
}
