// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathProcess
import NetPathSystem

/// The folder whose programs are hooks.
enum HookFolder {
    /// The folder that the system's service looks into without being told.
    static let usual = "/etc/netpath/hooks.d"

    /// The hooks that a folder holds; a file that cannot be one is logged and skipped.
    static func hooks(in path: String, log: (LogLevel, String) -> Void) -> [Hook] {
        let folder: ProgramFolder
        do throws(LaunchError) {
            folder = try ProgramFolder(path)
        } catch {
            log(.error, "no hook of '\(path)' is run: \(error)")
            return []
        }
        for remark in folder.remarks { log(.info, remark) }
        return folder.programs.map { program in
            // A name that no hook of the configuration can have.
            Hook(name: "hooks.d/\(program.split(separator: "/").last ?? "")", command: [program])
        }
    }
}

extension LoadedConfiguration {
    /// The hooks that the service runs: those that are configured, and those of the folder.
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
    }
}
