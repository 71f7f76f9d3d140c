// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// The folder whose programs are hooks.
enum HookFolder {
    /// The folder that the system's service looks into without being told.
    static let usual = "/etc/netpath/hooks.d"

    /// How long NetworkManager lets a script run.
    private static let dispatcherTimeout: Duration = .seconds(600)

    /// The hooks that a folder holds; a file that cannot be one is logged and skipped.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - isDispatcher: Whether its programs are NetworkManager's dispatcher scripts.
    ///   - log: Receives what is wrong.
    /// - Returns: The hooks in the order of their names.
    static func hooks(in path: String, isDispatcher: Bool = false, log: (LogLevel, String) -> Void) -> [Hook] {
        let folder: ProgramFolder
        do throws(LaunchError) {
            folder = try ProgramFolder(path, allowsExtensions: isDispatcher)
        } catch {
            log(.error, "no hook of '\(path)' is run: \(error)")
            return []
        }
        for remark in folder.remarks { log(.info, remark) }
        return folder.programs.map { program in
            // A name that no hook of the configuration can have.
            let name = program.split(separator: "/").last ?? ""
            var hook = Hook(name: (isDispatcher ? "dispatcher.d/" : "hooks.d/") + name, command: [program])
            if isDispatcher { (hook.trigger, hook.timeout) = (.dispatcher, self.dispatcherTimeout) }
            return hook
        }
    }
}

extension LoadedConfiguration {
    /// The hooks that the service runs: those that are configured, and those of the folders.
    ///
    /// - Parameters:
    ///   - usualFolder: Where to look unless the configuration says; nil for nowhere.
    ///   - log: Receives what is wrong with the folder.
    /// - Returns: The hooks, in the order of the configuration and then of the names.
    func allHooks(
        usualFolder: String? = nil,
        log: (LogLevel, String) -> Void
    ) -> [Hook] {
        let folder = self.hooksFolder ?? usualFolder.flatMap { FileAccess.exists($0) ? $0 : nil }
        return self.hooks + (folder.map { HookFolder.hooks(in: $0, log: log) } ?? [])
            + (self.dispatcherFolder.map { HookFolder.hooks(in: $0, isDispatcher: true, log: log) } ?? [])
    }
}
