// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// The configuration that a service ran with last, kept for when the one on disk is refused at a start.
struct LastGoodConfiguration: Sendable {
    /// Where the service keeps what stays.
    let folder: String

    private var path: String { self.folder + "/last-good.yaml" }

    /// Keeps a configuration, its overrides included, so that it survives a power cut.
    ///
    /// - Throws: `SystemError`.
    func keep(_ configuration: LoadedConfiguration) throws(SystemError) {
        let text =
            "# What netpath ran with last, for when the configuration on disk is refused. Not to be edited.\n"
            + configuration.effective.text
        if FileAccess.contents(self.path, limit: 4 << 20) == text { return }
        // The recorder makes it, where it records there.
        try FileAccess.makeFolder(self.folder)
        // Its group alone, which netpath serve belongs to: it may name tokens.
        try NewFile.replace(self.path, with: text, mode: 0o640, isDurable: true)
    }

    /// The configuration that was kept; nil when there is none, or it says nothing.
    ///
    /// The service wrote there what the administrator had written, so that hooks in it are taken. A file that another user may
    /// write is passed over, and so is one of another user by root, who would run what that user wants. `netpath serve`, which is
    /// not root, reads that of the service's user.
    func load(path: String?, _ context: ToolContext) -> LoadedConfiguration? {
        guard FileAccess.isOwn(self.path, in: self.folder), let text = FileAccess.contents(self.path, limit: 4 << 20),
            let kept = try? context.standIn(ConfigurationSource(name: self.path, text: text), for: path)
        else { return nil }
        return kept.saysNothing ? nil : kept
    }
}

extension ToolContext {
    /// A text that stands in for the configuration that is refused.
    ///
    /// - Throws: `ConfigurationError`.
    fileprivate func standIn(
        _ source: ConfigurationSource,
        for path: String?
    ) throws(ConfigurationError) -> LoadedConfiguration {
        try .standIn(source, path: path, environment: self.environment, registry: self.registry)
    }
}

extension GlobalOptions {
    /// The configuration of a service: where the one on disk is refused the last good one, which the service kept, or else
    /// the embedded default, so that programs that depend on the service do not stop for a mistake in a file.
    ///
    /// A person who starts it is told instead.
    ///
    /// - Returns: The configuration, and what is wrong with the one on disk.
    /// - Throws: `ConfigurationError`.
    func standingConfiguration(
        in folders: ServiceFolders,
        orDefault: Bool
    ) throws(ConfigurationError) -> (configuration: LoadedConfiguration, refusal: ConfigurationError?) {
        let context = ToolContext.current
        do throws(ConfigurationError) { return (try self.configuration(), nil) } catch {
            guard context.environment["NOTIFY_SOCKET"] != nil else { throw error }
            if let kept = LastGoodConfiguration(folder: folders.state).load(path: self.configurationPath, context) {
                return (kept, error)
            }
            guard orDefault else { throw error }
            let source = ConfigurationSource(name: "the embedded default", text: LoadedConfiguration.defaultText)
            return (try context.standIn(source, for: self.configurationPath), error)
        }
    }
}
