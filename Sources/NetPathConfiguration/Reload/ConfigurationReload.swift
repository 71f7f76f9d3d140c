// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// What a new configuration changes for a coordinator that runs with an old one.
///
/// ```swift
/// let new = try LoadedConfiguration.load(path: path, environment: environment)   // throws: the old one stays
/// let reload = ConfigurationReload(from: old, to: new)
/// reload.apply(to: coordinator)
/// ```
public struct ConfigurationReload: Sendable, CustomStringConvertible {
    /// The names of backends that go on as they are: type and every option are the same.
    public let kept: [String]
    /// The names of backends that were there before and are started anew, something about them having changed.
    public let restarted: [String]
    /// The names of backends that are new.
    public let added: [String]
    /// The names of backends that are gone.
    public let removed: [String]
    /// Whether the order of the backends, which is their priority, a mode, or a setting for all of them changed.
    public let changesSettings: Bool
    /// Whether a hook, or where their folder is, changed.
    package let changesHooks: Bool

    private let configuration: LoadedConfiguration

    /// Compares two configurations.
    public init(from old: LoadedConfiguration, to new: LoadedConfiguration) {
        let before = Dictionary(old.backends.map { ($0.name, $0) }) { first, _ in first }
        let common = new.backends.filter { before[$0.name] != nil }
        self.kept = common.filter { before[$0.name]?.isInterchangeable(with: $0) == true }.map(\.name)
        self.restarted = common.map(\.name).filter { [kept = self.kept] in !kept.contains($0) }
        self.added = new.backends.map(\.name).filter { before[$0] == nil }
        self.removed = old.backends.map(\.name).filter { name in !new.backends.contains { $0.name == name } }
        self.changesSettings =
            new.settings != old.settings || new.logLevel != old.logLevel
            || common.contains { before[$0.name]?.mode != $0.mode }
            || old.backends.map(\.name).filter { name in common.contains { $0.name == name } } != common.map(\.name)
        self.changesHooks =
            (new.hooks, new.hooksFolder, new.dispatcherFolder) != (old.hooks, old.hooksFolder, old.dispatcherFolder)
        self.configuration = new
    }

    /// Whether nothing changes for a coordinator.
    public var isEmpty: Bool {
        self.restarted.isEmpty && self.added.isEmpty && self.removed.isEmpty && !self.changesSettings
    }

    /// Puts the new configuration in force: only what changed is started anew, and subscribers stay.
    ///
    /// - Parameter coordinator: The coordinator that runs with the old configuration.
    public func apply(to coordinator: PathCoordinator) {
        if self.isEmpty { return }
        coordinator.apply(
            backends: self.configuration.makeBackends(),
            settings: self.configuration.settings,
            keeping: Set(self.kept)
        )
    }

    /// What changes, in a line for people.
    public var description: String {
        let parts = [
            ("added", self.added), ("removed", self.removed), ("restarted", self.restarted),
        ].filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
        let changes =
            parts + (self.changesSettings ? ["settings changed"] : []) + (self.changesHooks ? ["hooks changed"] : [])
        return changes.isEmpty ? "nothing changed" : changes.joined(separator: "; ")
    }
}
