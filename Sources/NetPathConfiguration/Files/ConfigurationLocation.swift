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

extension ConfigurationLocation: CustomStringConvertible {
    /// The location as messages name it, such as `/etc/netpath/netpath.yaml (system)`.
    package var description: String {
        switch self {
        case .file(let path, .commandLine): "\(path) (named by --config)"
        case .file(let path, .environment): "\(path) (named by $NETPATH_CONFIG)"
        case .file(let path, .user): "\(path) (the user's)"
        case .file(let path, .system): "\(path) (the system's)"
        case .embedded: "the built-in default"
        }
    }
}
