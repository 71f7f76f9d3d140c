// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

extension ConfigurationSection {
    /// Reads the program and its arguments that `command` names; what is wrong is recorded with its place.
    ///
    /// - Parameter isPrivileged: Whether only root may have written the section.
    /// - Returns: The words; none when the key is absent or wrong.
    package func command(isPrivileged: Bool) -> [String] {
        let isPrivileged = isPrivileged || Privileges.trustOnlyRoot
        let command = self.requiredStrings("command")
        guard let program = command.first else { return [] }
        if program.contains(" "), command.count == 1 {
            self.warn(
                "command",
                "is one program with a blank in its name; no shell reads it: write [program, argument]"
            )
        }
        if isPrivileged, !program.hasPrefix("/") {
            self.reject("command", at: 0, "must be an absolute path, since \(TrustedFile.reason)")
        } else if program.contains("/"), !program.hasPrefix("/") {
            self.reject("command", at: 0, "must be an absolute path, or the name of a program of the system")
        }
        for (index, word) in command.enumerated() where word.utf8.contains(0) {
            self.reject("command", at: index, "must not hold a NUL")
        }
        if isPrivileged, let origin = self.otherAuthor {
            self.reject(
                "command",
                "cannot come from \(origin), since \(TrustedFile.reason); write it in /etc/netpath/netpath.yaml"
            )
        }
        // It may be there by the time it is needed: no reason to go without the rest of the configuration.
        if isPrivileged ? program.hasPrefix("/") : program.hasPrefix("/") || !program.contains("/"),
            let obstacle = LaunchPlan.obstacle(to: command, isPrivileged: isPrivileged)
        {
            self.warn("command", "cannot be run now: \(obstacle)")
        }
        return command
    }

    /// Reads the user whose rights `command` has; what is wrong is recorded with its place.
    ///
    /// - Parameter isPrivileged: Whether netpath itself has more rights than a command needs.
    /// - Returns: The user's name; nil for the user whom netpath runs as.
    package func user(isPrivileged: Bool) -> String? {
        let user = self.string("user")
        if let user, user.isEmpty {
            self.reject("user", "must be the name of a user")
        } else if let user, !ProcessIdentity.exists(user) {
            // Users can be added until the command runs, as programs can.
            self.warn("user", "names no user of this machine: 'command' cannot be run now")
        } else if isPrivileged, user == nil, self.contains("command") {
            self.warn("command", "runs with the rights of netpath; add a 'user' with fewer")
        }
        return user
    }
}
