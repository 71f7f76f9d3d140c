// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where a configuration comes from.
package enum ConfigurationLocation: Sendable, Hashable {
    /// Who named a file.
    package enum Origin: Sendable, Hashable {
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

    /// Decides which configuration is read.
    ///
    /// A file that the user named is the one, whether it is there or not: reading it then says what is wrong. Of the
    /// usual places the first that has a file wins, and a file that is there but unreadable is not passed over, for the
    /// program would run with settings that its owner believes replaced.
    ///
    /// - Parameters:
    ///   - explicitPath: The argument of `--config`.
    ///   - environment: The process's environment; an empty variable counts as none, and, as the XDG base
    ///     directory specification demands, a relative `XDG_CONFIG_HOME` too.
    ///   - isService: Whether the process serves the machine and not a person. Then only the machine's own folder is
    ///     searched: what a service may write to must not say what it does.
    ///   - exists: Tells whether a path may name a file; ``ConfigurationFile/mayExist(_:)`` in the program.
    /// - Returns: The file named, else the first that exists, else the embedded default.
    package static func find(
        explicitPath: String?,
        environment: [String: String],
        isService: Bool = false,
        exists: (String) -> Bool
    ) -> ConfigurationLocation {
        if let explicitPath { return .file(path: explicitPath, origin: .commandLine) }
        if let path = environment["NETPATH_CONFIG"], !path.isEmpty { return .file(path: path, origin: .environment) }
        let absolute = { (path: String?) in path?.hasPrefix("/") == true ? path : nil }
        let usual = absolute(environment["XDG_CONFIG_HOME"]) ?? absolute(environment["HOME"]).map { $0 + "/.config" }
        // The home of a service is where it keeps what it records.
        let folder = isService ? nil : usual
        if let path = folder.map({ "\($0)/netpath/netpath.yaml" }), exists(path) {
            return .file(path: path, origin: .user)
        }
        let path = "/etc/netpath/netpath.yaml"
        return exists(path) ? .file(path: path, origin: .system) : .embedded
    }
}
