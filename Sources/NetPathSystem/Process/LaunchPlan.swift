// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// What a program that is started may do.
package struct LaunchPermissions: Hashable, Sendable {
    /// What it gets of the machine.
    package struct Limits: Hashable, Sendable {
        /// Bytes of writable memory.
        var memory: UInt
        /// Open files.
        var files: UInt
        /// Processes of its user.
        var processes: UInt
    }

    /// What it gets of the machine; nil for what this process has.
    var limits: Limits?
    /// Whether it may execute programs with more privileges than it has.
    var mayGainPrivileges = false
    /// Whether it keeps the working folder and the file mode mask of this process.
    var keepsPlace = false

    /// For a plugin, which runs as long as this process.
    package static let plugin = LaunchPermissions(limits: Limits(memory: 512 << 20, files: 256, processes: 1024))
    /// For a command that the configuration names, and that is to end soon.
    package static let hook = LaunchPermissions()
    /// For a command that the user typed: whatever that user may do.
    package static let typed = LaunchPermissions(mayGainPrivileges: true, keepsPlace: true)
}

/// How a program is started: looked up, and found good enough for what this process may do.
package struct LaunchPlan {
    /// What is executed in place of the path, where the path is not to be asked twice.
    var program: FileDescriptor?
    var path: String
    var arguments: [String]
    var environment: [String]
    /// The user that the program runs as; nil for that of this process.
    var identity: ProcessIdentity?
    var permissions: LaunchPermissions

    /// Where programs without a folder are looked for: not in the environment's folders, which differ from one user of
    /// netpath to the next.
    static let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]

    /// Makes a plan for a command that the configuration names.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - environment: Variables besides PATH, LANG, HOME, USER and LOGNAME; nil for what this process has.
    ///   - user: The user it runs as; nil for that of this process, or who started it where the two differ.
    ///   - permissions: What it may do.
    ///   - isPrivileged: Whether only what root alone can have put there is executed.
    /// - Throws: ``LaunchError`` when the command is missing, or not to be trusted.
    package init(
        _ command: [String],
        environment: [String: String?],
        user: String?,
        permissions: LaunchPermissions,
        isPrivileged: Bool = Privileges.trustOnlyRoot
    ) throws(LaunchError) {
        let name = try Self.name(of: command)
        self.arguments = command
        self.permissions = permissions
        if let user {
            self.identity = try ProcessIdentity(user)
        } else if isPrivileged, geteuid() != 0 {
            // Rights that netpath has, and the user who started it does not, are withheld from the program.
            self.identity = try Self.whoStarted
        }
        // To stay the same user takes no rights.
        if let identity = self.identity, geteuid() != 0, identity.user == geteuid() { self.identity = nil }
        self.environment = Self.environment(environment, identity: self.identity)
        guard isPrivileged else {
            self.path = try Self.find(name)
            return
        }
        self.path = name
        self.program = try Self.trusted(command)
    }

    /// The program of a command, once it and all that it names are found to be root's alone.
    private static func trusted(_ command: [String]) throws(LaunchError) -> FileDescriptor {
        let program = try TrustedFile.open(self.name(of: command))
        if let interpreter = TrustedFile.interpreter(of: program) { _ = try TrustedFile.open(interpreter) }
        // The working folder is the root.
        for argument in command.dropFirst() where !argument.hasPrefix("-") {
            let path = argument.hasPrefix("/") ? argument : "/" + argument
            guard TrustedFile.isRegular(path) else { continue }
            do { _ = try TrustedFile.open(path) } catch {
                let name = argument.printable(limit: 200)
                throw LaunchError("the argument '\(name)' may be a part of the program: \(error)")
            }
        }
        return program
    }

    /// Why a command could not be started as things are; nil when nothing speaks against it.
    ///
    /// Nothing is started, and nothing is read but the first bytes of the program.
    package static func obstacle(to command: [String], isPrivileged: Bool) -> LaunchError? {
        do throws(LaunchError) {
            let name = try self.name(of: command)
            if isPrivileged { _ = try self.trusted(command) }
            let path = isPrivileged ? name : try self.find(name)
            let shown = path.printable(limit: 200)
            guard let status = FileAccess.status(path)
            else { throw LaunchError("cannot find '\(shown)': \(SystemReason.text(errno)); check the path") }
            guard !status.isFolder else { throw LaunchError("'\(shown)' is a folder, not a program") }
            guard status.isFile else { throw LaunchError("'\(shown)' is not a regular file") }
            guard unsafe access(path, X_OK) == 0
            else { throw LaunchError("'\(shown)' is not executable; chmod +x it") }
            guard !TrustedFile.isBareText(path)
            else { throw LaunchError("'\(shown)' is no program; a script needs a first line such as #!/bin/sh") }
            return nil
        } catch {
            return error
        }
    }

    /// Makes a plan for a command that the person typed who started this process: with that person's rights.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments; a program without a folder is looked for in the folders of PATH.
    ///   - environment: All of its variables.
    /// - Throws: ``LaunchError`` when there is no such program.
    package init(typed command: [String], environment: [String: String]) throws(LaunchError) {
        let name = try Self.name(of: command)
        self.arguments = command
        self.permissions = .typed
        self.environment = environment.map { "\($0)=\($1)" }.sorted()
        if getuid() != geteuid() || getgid() != getegid() { self.identity = try Self.whoStarted }
        self.path = name
        guard !name.contains("/") else { return }
        let folders = (environment["PATH"] ?? Self.folders.joined(separator: ":"))
            .split(separator: ":", omittingEmptySubsequences: false)
        // An empty folder is the working folder (execvp(3)).
        let paths = folders.map { $0.isEmpty ? "./\(name)" : "\($0)/\(name)" }
        guard let path = paths.first(where: { unsafe access($0, X_OK) == 0 && TrustedFile.isRegular($0) })
        else { throw LaunchError("cannot find '\(name.printable(limit: 100))' in the folders of PATH") }
        self.path = path
    }

    private static func name(of command: [String]) throws(LaunchError) -> String {
        guard let name = command.first, !name.isEmpty else { throw LaunchError("there is no command to run") }
        guard !command.contains(where: { $0.utf8.contains(0) }) else { throw LaunchError("the command holds a NUL") }
        return name
    }

    private static var whoStarted: ProcessIdentity {
        get throws(LaunchError) {
            guard let identity = ProcessIdentity(real: getuid())
            else { throw LaunchError("there is no user of the number \(getuid()), who started netpath") }
            return identity
        }
    }

    private static func find(_ command: String) throws(LaunchError) -> String {
        if command.hasPrefix("/") { return command }
        guard !command.contains("/"),
            let folder = self.folders.first(where: { unsafe access("\($0)/\(command)", X_OK) == 0 })
        else {
            let folders = self.folders.joined(separator: ", ")
            throw LaunchError("cannot find '\(command.printable(limit: 100))' in \(folders); write its absolute path")
        }
        return "\(folder)/\(command)"
    }

    /// Little, and the same for every user; what a program needs besides is configured.
    private static func environment(_ variables: [String: String?], identity: ProcessIdentity?) -> [String] {
        var values = ["PATH": self.folders.joined(separator: ":"), "LANG": "C.UTF-8"]
        let identity = identity ?? ProcessIdentity(real: geteuid())
        values["HOME"] = identity?.home ?? "/"
        values["USER"] = identity?.name
        values["LOGNAME"] = identity?.name
        for (name, value) in variables {
            let own = unsafe getenv(name).map { unsafe String(cString: $0) }
            values[name] = value ?? own
        }
        return values.map { "\($0)=\($1)" }.sorted()
    }
}
