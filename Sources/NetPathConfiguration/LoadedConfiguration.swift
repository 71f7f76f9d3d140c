// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A configuration that was read and found good: backends, made and ready to run.
public struct LoadedConfiguration: Sendable {
    /// Where the configuration comes from: a path, or `embedded default`.
    public let origin: String
    /// The backends in order of priority.
    public let backends: [ConfiguredBackend]

    /// The text of the embedded default, every key explained.
    public static let defaultText = String(decoding: PackageResources.netpath_yaml, as: UTF8.self)

    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - path: A file named on the command line; it has to exist.
    ///   - environment: The variables that take part in the search: `NETPATH_CONFIG`, `XDG_CONFIG_HOME`, `HOME`.
    ///   - registry: The backends that can be named.
    /// - Returns: The configuration; nothing is started.
    /// - Throws: ``ConfigurationError`` with everything that is wrong.
    public static func load(
        path: String?,
        environment: [String: String],
        registry: BackendRegistry = .builtIn
    ) throws(ConfigurationError) -> LoadedConfiguration {
        let search = ConfigurationSearch(explicitPath: path, environment: environment)
        switch search.location(exists: ConfigurationFile.mayExist) {
        case .file(let path, _): return try self.parse(try ConfigurationFile.read(path), registry: registry)
        case .embedded:
            return try self.parse(
                ConfigurationSource(name: "embedded default", text: self.defaultText),
                registry: registry
            )
        }
    }

    /// Checks a configuration's text and makes the backends it names.
    ///
    /// - Throws: ``ConfigurationError`` with everything that is wrong.
    public static func parse(
        _ source: ConfigurationSource,
        registry: BackendRegistry = .builtIn
    ) throws(ConfigurationError) -> LoadedConfiguration {
        let root = ConfigurationSection(try YAMLReader.read(source), in: source)
        root.require("backends")
        let sections = root.sections("backends")
        var names: Set<String> = []
        var backends: [ConfiguredBackend] = []
        for section in sections {
            section.require("type")
            guard let type = section.choice("type", among: registry.all.map(\.type)),
                let registration = registry.registration(for: type)
            else {
                // What the other keys may be depends on the type.
                section.acceptEveryKey()
                continue
            }
            let name = section.string("name", default: type)
            if !names.insert(name).inserted {
                section.reject(
                    section.contains("name") ? "name" : "type",
                    "names a second backend '\(name)'; give it a 'name' of its own"
                )
            }
            let mode = section.choice("mode", default: BackendMode.active)
            backends.append(
                ConfiguredBackend(name: name, type: type, mode: mode, monitor: registration.make(section))
            )
        }
        if root.contains("backends"), sections.isEmpty {
            root.reject("backends", "names no backend, so nothing would watch the network")
        }
        if !backends.isEmpty, backends.count == sections.count, backends.allSatisfy({ $0.mode == .off }) {
            root.reject("backends", "is off as a whole, so nothing would watch the network")
        }
        try root.validate()
        return LoadedConfiguration(origin: source.name, backends: backends)
    }

    /// Makes a coordinator of the backends; nothing runs before it is started.
    ///
    /// - Parameters:
    ///   - clock: The source of time.
    ///   - executor: As for ``PathCoordinator``.
    ///   - log: Receives messages for the operator, on any thread.
    /// - Returns: The coordinator.
    public func makeCoordinator(
        clock: any MonotonicClock = SystemMonotonicClock(),
        executor: (any TaskExecutor)? = nil,
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) -> PathCoordinator {
        PathCoordinator(
            backends: self.backends.map { Backend($0.name, mode: $0.mode, monitor: $0.monitor) },
            clock: clock,
            executor: executor,
            log: log
        )
    }
}

/// A backend as the configuration names it.
public struct ConfiguredBackend: Sendable {
    /// The name in output.
    public let name: String
    /// The type in the registry.
    public let type: String
    /// How it is used.
    public let mode: BackendMode
    /// What watches the network.
    public let monitor: any PathMonitor
}
