// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Decides which configuration file is read.
///
/// A file that the user named is the one, whether it is there or not: reading it then says what is wrong. Of the
/// usual places the first that has a file wins, and a file that is there but unreadable is not passed over, for the
/// program would run with settings that its owner believes replaced.
package struct ConfigurationSearch: Sendable, Hashable {
    /// The file named by a person, `nil` when none is.
    package let named: ConfigurationLocation?

    /// The usual places in the order in which they are tried.
    package let candidates: [ConfigurationLocation]

    /// Prepares the search.
    ///
    /// - Parameters:
    ///   - explicitPath: The argument of `--config`.
    ///   - environment: The process's environment; an empty variable counts as none, and, as the XDG base
    ///     directory specification demands, a relative `XDG_CONFIG_HOME` too.
    ///   - isService: Whether the process serves the machine and not a person. Then only the machine's own folder is
    ///     searched: what a service may write to must not say what it does.
    package init(explicitPath: String?, environment: [String: String], isService: Bool = false) {
        if let explicitPath {
            self.named = .file(path: explicitPath, origin: .commandLine)
        } else if let path = environment["NETPATH_CONFIG"], !path.isEmpty {
            self.named = .file(path: path, origin: .environment)
        } else {
            self.named = nil
        }

        var candidates: [ConfigurationLocation] = []
        if isService {
            // Its home is where it keeps what it records.
        } else if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            candidates.append(.file(path: "\(folder)/netpath/netpath.yaml", origin: .user))
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            candidates.append(.file(path: "\(home)/.config/netpath/netpath.yaml", origin: .user))
        }
        candidates.append(.file(path: "/etc/netpath/netpath.yaml", origin: .system))
        self.candidates = candidates
    }

    /// Chooses the file.
    ///
    /// - Parameter exists: Tells whether a path may name a file; ``ConfigurationFile/mayExist(_:)`` in the program.
    /// - Returns: The file named, else the first that exists, else the embedded default.
    package func location(exists: (String) -> Bool) -> ConfigurationLocation {
        if let named { return named }
        let found = candidates.first { candidate in
            if case .file(let path, _) = candidate { exists(path) } else { false }
        }
        return found ?? .embedded
    }
}
