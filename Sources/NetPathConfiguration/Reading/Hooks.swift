// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// A command that is run when the path changes, as the configuration names it.
package struct Hook: Hashable, Sendable, Codable {
    /// What counts as a change.
    package enum Trigger: String, Hashable, Sendable, Codable, CaseIterable {
        /// Another status.
        case status
        /// Another status, or another interface that carries the path.
        case interface
        /// Any published path.
        case any
        /// Another interface that carries the path, or another reach of it: the command is called as NetworkManager calls
        /// its dispatcher scripts.
        case dispatcher
    }

    /// The name in output, unique among the hooks.
    package var name: String
    /// What it is run for.
    package var trigger = Trigger.status
    /// How long a change has to hold before it is told.
    package var holdTime: Duration = .zero
    /// The program and its arguments; no shell reads them.
    package var command: [String]
    /// How long a run may take.
    package var timeout: Duration = .seconds(30)
    /// How often a run that failed is repeated.
    package var retries = 0
    /// The user that it runs as, by name; nil for that of netpath, or whoever started it where the two differ.
    package var user: String?
    /// Whether the person typed it who started netpath, so that it may do whatever that person may.
    package var isTyped = false

    /// Makes a hook that is the default one but for its name and command.
    package init(name: String, command: [String]) {
        self.name = name
        self.command = command
    }
}

extension Hook {
    /// The longest that anything of a hook may take.
    package static let durationLimit: Duration = .seconds(86_400)

    /// Reads the list `hooks`; what is wrong is recorded there with its place.
    static func read(from root: ConfigurationSection, isPrivileged: Bool) -> [Hook] {
        var names: Set<String> = []
        return root.sections("hooks").map { section in
            let name = section.requiredString("name")
            if !name.isEmpty, !ProgramFolder.isName(name) {
                section.reject("name", "must be made of letters, digits, - and _")
            } else if !name.isEmpty, !names.insert(name).inserted {
                section.reject("name", "names a second hook '\(name)'; give each a name of its own")
            }
            var hook = Hook(name: name, command: section.command(isPrivileged: isPrivileged))
            hook.trigger = section.choice("on", default: hook.trigger)
            hook.holdTime = section.duration("for", default: hook.holdTime, in: .zero...self.durationLimit)
            hook.timeout = section.duration(
                "timeout",
                default: hook.timeout,
                in: .milliseconds(100)...self.durationLimit
            )
            hook.retries = section.integer("retries", default: hook.retries, in: 0...100)
            hook.user = section.user(isPrivileged: isPrivileged)
            return hook
        }
    }

    /// Reads where a folder of hooks is; nil when the configuration names none.
    static func readFolder(_ key: String, from root: ConfigurationSection, isPrivileged: Bool) -> String? {
        guard let folder = root.string(key) else { return nil }
        if !folder.hasPrefix("/") || folder.utf8.contains(0) {
            root.reject(key, "must be the absolute path of a folder")
        } else {
            // As of a command: it may be there by the time it is needed.
            do throws(LaunchError) {
                _ = try ProgramFolder(folder)
            } catch {
                root.warn(key, "cannot be used now: \(error)")
            }
        }
        if isPrivileged || Privileges.trustOnlyRoot, let author = root.otherAuthor(of: key) {
            root.reject(
                key,
                "cannot come from \(author), since \(TrustedFile.reason); write it in /etc/netpath/netpath.yaml"
            )
        }
        return folder
    }
}
