// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where a configuration comes from.
package enum ConfigurationLocation: Sendable, Hashable {
    /// Who named a file.
    package enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The option `--config`.
        case commandLine
        /// The environment variable `NETPATH_CONFIG`.
        case environment
        /// The user's own configuration folder.
        case user
        /// The machine's configuration folder.
        case system
    }

    /// A file on disk.
    case file(path: String, origin: Origin)
    /// The text inside the program.
    case embedded
}
