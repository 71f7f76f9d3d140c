// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A configuration that was read and found good: backends, made and ready to run.
public struct LoadedConfiguration: Sendable {
    /// Where the configuration comes from: a path, or `embedded default`.
    public let origin: String
    /// The file it was read from; nil for the embedded default and for text in memory.
    public internal(set) var path: String?
    /// The backends in order of priority.
    public internal(set) var backends: [ConfiguredBackend]
    /// What becomes of what the backends say.
    public let settings: CoordinatorSettings
    /// What verdicts depend on besides the evidence.
    public var evaluation: EvaluationPolicy { self.settings.evaluation }
    /// The least that a message has to matter to be shown while watching.
    public let logLevel: LogLevel
    /// What is legal and does not do what was probably meant.
    public let warnings: [ConfigurationDiagnostic]
    /// Every value and where it comes from.
    public let effective: EffectiveConfiguration
    /// The paths of all keys that were asked for, such as `backends[].type`.
    package let keyPaths: Set<String>

    /// What the embedded default is called in place of a path.
    static let embeddedName = "embedded default"
    /// The text of the embedded default, every key explained.
    public static let defaultText = String(decoding: PackageResources.netpath_yaml, as: UTF8.self)

    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - path: A file named on the command line; it has to exist.
    ///   - environment: The variables that take part in the search, `NETPATH_CONFIG`, `XDG_CONFIG_HOME` and `HOME`,
    ///     and `NETPATH_SET` with values such as `backends.netlink.mode=off;grace=30s`.
    ///   - overrides: Values such as `backends.netlink.mode=off`; they win over `NETPATH_SET`, and that over the file.
    ///   - registry: The backends that can be named.
    /// - Returns: The configuration; nothing is started.
    /// - Throws: `ConfigurationError` with everything that is wrong.
    public static func load(
        path: String?,
        environment: [String: String],
        overrides: [String] = [],
        registry: BackendRegistry = .builtIn
    ) throws(ConfigurationError) -> LoadedConfiguration {
        let search = ConfigurationSearch(explicitPath: path, environment: environment)
        let overrides =
            ConfigurationOverride.environment(environment["NETPATH_SET"])
            + ConfigurationOverride.commandLine(overrides)
        switch search.location(exists: ConfigurationFile.mayExist) {
        case .file(let path, _):
            let source = try ConfigurationFile.read(path)
            var configuration = try self.parse(source, overrides: overrides, registry: registry)
            configuration.path = path
            return configuration
        case .embedded:
            let source = ConfigurationSource(name: self.embeddedName, text: self.defaultText)
            return try self.parse(source, overrides: overrides, registry: registry)
        }
    }

    /// Checks a configuration's text and makes the backends it names.
    ///
    /// - Throws: `ConfigurationError` with everything that is wrong.
    public static func parse(
        _ source: ConfigurationSource,
        registry: BackendRegistry = .builtIn
    ) throws(ConfigurationError) -> LoadedConfiguration {
        try self.parse(source, overrides: [], registry: registry)
    }

    private static func parse(
        _ source: ConfigurationSource,
        overrides: [ConfigurationOverride],
        registry: BackendRegistry
    ) throws(ConfigurationError) -> LoadedConfiguration {
        var node = try YAMLReader.read(source)
        var errors: [ConfigurationDiagnostic] = []
        for override in overrides {
            do throws(ConfigurationError) {
                node = try override.applied(to: node)
            } catch {
                errors += error.diagnostics
            }
        }
        let root = ConfigurationSection(node, in: source, known: errors)
        root.require("backends")
        let representatives = root.readRepresentatives()
        let settings = CoordinatorSettings.read(from: root)
        let logLevel = root.nested("logging").choice("level", default: LogLevel.warning)
        let backends = self.backends(of: root, registry: registry, representatives: representatives)
        if settings.evaluation.gateways == .required, !backends.contains(where: { $0.type == "tcpProbe" }) {
            root.nested("merge").warn(
                "gateways",
                "leaves it to other programs to find out that a gateway is back: the kernel notices when packets are sent "
                    + "through it; add a backend of type tcpProbe, which sends some"
            )
        }
        try root.validate()
        return LoadedConfiguration(
            origin: source.name,
            backends: backends,
            settings: settings,
            logLevel: logLevel,
            warnings: root.warnings,
            effective: EffectiveConfiguration(root.effective, document: source),
            keyPaths: root.keyPaths
        )
    }

    private static func backends(
        of root: ConfigurationSection,
        registry: BackendRegistry,
        representatives: [IPAddress]
    ) -> [ConfiguredBackend] {
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
            section.representatives = representatives
            let mode = section.choice("mode", default: BackendMode.active)
            let monitor = registration.make(section)
            backends.append(
                ConfiguredBackend(
                    name: name,
                    type: type,
                    mode: mode,
                    monitor: monitor,
                    options: section.effective.values(without: "mode"),
                    representatives: section.usesRepresentatives ? representatives : nil
                )
            )
        }
        if root.contains("backends"), sections.isEmpty {
            root.reject("backends", "names no backend, so nothing would watch the network")
        }
        if !backends.isEmpty, backends.count == sections.count, backends.allSatisfy({ $0.mode == .off }) {
            root.reject("backends", "is off as a whole, so nothing would watch the network")
        }
        return backends
    }

    /// Makes a coordinator of the backends; nothing runs before it is started.
    ///
    /// - Parameters:
    ///   - clock: The source of time.
    ///   - executor: As for `PathCoordinator`.
    ///   - log: Receives messages for the operator, on any thread.
    /// - Returns: The coordinator.
    public func makeCoordinator(
        clock: any MonotonicClock = SystemMonotonicClock(),
        executor: (any TaskExecutor)? = nil,
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) -> PathCoordinator {
        PathCoordinator(
            backends: self.makeBackends(),
            settings: self.settings,
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
    public internal(set) var mode: BackendMode
    /// What watches the network.
    public let monitor: any PathMonitor
    /// Every value of its section but the mode, which a coordinator can change while it runs.
    let options: ConfigurationNode.Content
    /// The addresses it asks for routes to; nil when it does not ask.
    let representatives: [IPAddress]?

    /// Whether a monitor made for the other one would do exactly the same.
    func isInterchangeable(with other: ConfiguredBackend) -> Bool {
        (self.name, self.type) == (other.name, other.type)
            && (self.options, self.representatives) == (other.options, other.representatives)
    }
}
