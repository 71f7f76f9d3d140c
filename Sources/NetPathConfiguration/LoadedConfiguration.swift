// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

/// A configuration that was read and found good: backends, made and ready to run.
public struct LoadedConfiguration: Sendable {
    /// Where the configuration comes from: a path, or `embedded default`.
    public let origin: String
    /// The file it was read from; nil for the embedded default and for text in memory.
    public internal(set) var path: String?
    /// The files beside it that change it, in the order in which they apply.
    public internal(set) var dropIns: [String] = []
    /// The files, or texts, that hold no key at all.
    package let emptyFiles: Set<String>
    /// Whether no file, or text, holds any key, so that everything is as in the embedded default.
    package var saysNothing: Bool { self.emptyFiles.count == self.dropIns.count + 1 }
    /// The backends in order of priority.
    public internal(set) var backends: [ConfiguredBackend]
    /// How the backends are used that ``answering`` or ``reading`` left out, by their names.
    package internal(set) var leftOut: [String: BackendMode] = [:]
    /// Whether it is that of ``answering``.
    var isForOneAnswer = false
    /// What becomes of what the backends say.
    public let settings: CoordinatorSettings
    /// What verdicts depend on besides the evidence.
    package var evaluation: EvaluationPolicy { self.settings.evaluation }
    /// The least that a message has to matter to be shown while watching.
    package let logLevel: LogLevel
    /// What the service records.
    package let record: RecordSettings
    /// Where and to whom the path is shown.
    package let serve: ServeSettings
    /// What is run when the path changes, by the service.
    package let hooks: [Hook]
    /// The folder whose programs are hooks too; nil when the configuration names none.
    package let hooksFolder: String?
    /// The folder whose programs are NetworkManager's dispatcher scripts; nil when the configuration names none.
    package let dispatcherFolder: String?
    /// What is legal and does not do what was probably meant.
    public let warnings: [ConfigurationDiagnostic]
    /// Every value and where it comes from.
    package let effective: EffectiveConfiguration
    /// The paths of all keys that were asked for, such as `backends[].type`.
    package let keyPaths: Set<String>

    /// What the embedded default is called in place of a path.
    static let embeddedName = "embedded default"
    /// The text of the embedded default, every key explained.
    package static let defaultText = String(decoding: PackageResources.netpath_yaml, as: UTF8.self)

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
        let overrides =
            ConfigurationOverride.environment(environment["NETPATH_SET"])
            + ConfigurationOverride.commandLine(overrides)
        switch self.location(path: path, environment: environment) {
        case .file(let path, let origin):
            let dropIns = try DropIns.read(of: path)
            let isThere = ConfigurationFile.mayExist(path) || dropIns.isEmpty
            var source = isThere ? try ConfigurationFile.read(path) : ConfigurationSource(name: path, bytes: [])
            switch origin {
            case .environment: source.otherAuthor = "a file that $NETPATH_CONFIG names"
            case .user: source.otherAuthor = "the user's own configuration"
            case .commandLine, .system: break
            }
            var configuration = try self.parse(source, dropIns, overrides: overrides, registry: registry)
            configuration.path = path
            return configuration
        case .embedded:
            let source = ConfigurationSource(name: self.embeddedName, text: self.defaultText)
            return try self.parse(source, overrides: overrides, registry: registry)
        }
    }

    /// Where the configuration is found.
    private static func location(path: String?, environment: [String: String]) -> ConfigurationLocation {
        .find(
            explicitPath: path,
            environment: environment,
            isService: Privileges.areOfService(environment["RUNTIME_DIRECTORY"])
        ) { ConfigurationFile.mayExist($0) || !DropIns.files(of: $0).isEmpty }
    }

    /// Checks a text that stands in for the configuration that would be found, which is refused.
    ///
    /// - Parameters:
    ///   - source: The text.
    ///   - path: A file named on the command line.
    ///   - environment: As for ``load(path:environment:overrides:registry:)``.
    ///   - registry: The backends that can be named.
    /// - Returns: The configuration, with the path of the file that it stands in for.
    /// - Throws: `ConfigurationError` with everything that is wrong.
    package static func standIn(
        _ source: ConfigurationSource,
        path: String?,
        environment: [String: String],
        registry: BackendRegistry
    ) throws(ConfigurationError) -> LoadedConfiguration {
        var configuration = try self.parse(source, registry: registry)
        if case .file(let path, _) = self.location(path: path, environment: environment) { configuration.path = path }
        return configuration
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

    /// Checks a configuration's text with some of its values replaced, such as `merge.policy=any`.
    ///
    /// - Throws: `ConfigurationError` with everything that is wrong.
    package static func parse(
        _ source: ConfigurationSource,
        setting overrides: [String],
        registry: BackendRegistry
    ) throws(ConfigurationError) -> LoadedConfiguration {
        try self.parse(source, overrides: ConfigurationOverride.commandLine(overrides), registry: registry)
    }

    private static func parse(
        _ source: ConfigurationSource,
        _ dropIns: [ConfigurationSource] = [],
        overrides: [ConfigurationOverride],
        registry: BackendRegistry
    ) throws(ConfigurationError) -> LoadedConfiguration {
        var errors: [ConfigurationDiagnostic] = []
        let documents = try self.documents([source] + dropIns)
        let document = documents.dropFirst().reduce(documents[0].root) { $0.merged(with: $1.root) }
        var node = try self.withBackends(document)
        for override in overrides {
            do throws(ConfigurationError) {
                node = try override.applied(to: node)
            } catch {
                errors += error.diagnostics
            }
        }
        let root = ConfigurationSection(node, in: source, known: errors)
        ConfigurationVersion.read(from: root, documents)
        root.require("backends")
        let referenceDestinations = root.readReferenceDestinations()
        let settings = CoordinatorSettings.read(from: root)
        let logLevel = root.nested("logging").choice("level", default: LogLevel.warning)
        let record = RecordSettings.read(from: root)
        let serve = ServeSettings.read(from: root)
        let isPrivileged = Privileges.areHeld
        let hooks = Hook.read(from: root, isPrivileged: isPrivileged)
        let hooksFolder = Hook.readFolder("hooksFolder", from: root, isPrivileged: isPrivileged)
        let dispatcherFolder = Hook.readFolder("dispatcherFolder", from: root, isPrivileged: isPrivileged)
        let backends = self.backends(of: root, registry: registry, referenceDestinations: referenceDestinations)
        let inUse = Set(backends.filter { $0.mode != .off }.map(\.type))
        if settings.evaluation.gateways == .required, !inUse.contains("tcpProbe") {
            root.nested("merge").warn(
                "gateways",
                "notices that a gateway is back only when other programs send through it; add a backend of "
                    + "type tcpProbe, which sends packets itself"
            )
        }
        if settings.probes == .required, inUse.isSubset(of: ["netlink", "sysfs"]) {
            let message = "changes nothing: no backend probes; add one of type tcpProbe or httpProbe"
            root.nested("merge").warn("probes", message)
        }
        try root.validate()
        return LoadedConfiguration(
            origin: source.name,
            dropIns: dropIns.map(\.name),
            emptyFiles: Set(documents.filter { $0.root.content == .mapping([]) }.map(\.source.name)),
            backends: backends,
            settings: settings,
            logLevel: logLevel,
            record: record,
            serve: serve,
            hooks: hooks,
            hooksFolder: hooksFolder,
            dispatcherFolder: dispatcherFolder,
            warnings: root.warnings,
            effective: EffectiveConfiguration(
                root: root.effective,
                document: source,
                dropIns: Set(dropIns.map(\.name))
            ),
            keyPaths: root.keyPaths
        )
    }

    /// Reads the texts of a configuration: that of the file first, then those that change it.
    private static func documents(
        _ sources: [ConfigurationSource]
    ) throws(ConfigurationError) -> [(source: ConfigurationSource, root: ConfigurationNode)] {
        var documents: [(source: ConfigurationSource, root: ConfigurationNode)] = []
        var errors: [ConfigurationDiagnostic] = []
        for (index, source) in sources.enumerated() {
            do throws(ConfigurationError) {
                let root = try YAMLReader.read(source)
                if index > 0, !root.isMapping {
                    let message = "the file must consist of keys and values such as 'grace:'"
                    errors.append(ConfigurationDiagnostic(message, in: source, at: root.position))
                }
                documents.append((source, index == 0 ? root : root.stating(source)))
            } catch {
                errors += error.diagnostics
            }
        }
        if let error = ConfigurationError(errors) { throw error }
        return documents
    }

    /// Adds the backends of the embedded default to a configuration that says nothing of backends.
    private static func withBackends(_ node: ConfigurationNode) throws(ConfigurationError) -> ConfigurationNode {
        guard case .mapping(let entries) = node.content, !entries.contains(where: { $0.key.text == "backends" })
        else { return node }
        let source = ConfigurationSource(name: self.embeddedName, text: self.defaultText)
        let own = try YAMLReader.read(source).stating(source)
        guard case .mapping(let defaults) = own.content else { return node }
        let backends = defaults.filter { $0.key.text == "backends" }
        return ConfigurationNode(.mapping(backends + entries), at: node.position, in: node.source)
    }

    private static func backends(
        of root: ConfigurationSection,
        registry: BackendRegistry,
        referenceDestinations: [InternetAddress]
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
            section.referenceDestinations = referenceDestinations
            let mode = section.choice("mode", default: BackendMode.active)
            let monitor = registration.make(section)
            backends.append(
                ConfiguredBackend(
                    name: name,
                    type: type,
                    mode: mode,
                    program: registration.program,
                    monitor: monitor,
                    options: section.effective.values(without: "mode"),
                    referenceDestinations: section.usesReferenceDestinations ? referenceDestinations : nil
                )
            )
        }
        if root.isEmptyList("backends") {
            root.reject("backends", "names no backend, so nothing would watch the network")
        }
        if !backends.isEmpty, backends.count == sections.count, backends.allSatisfy({ $0.mode == .off }) {
            root.reject("backends", "has every backend off, so that nothing would watch the network")
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
    /// The program that runs it, where this one can only check its options; nil for this one.
    public let program: String?
    /// What watches the network.
    public let monitor: any PathMonitor
    /// Every value of its section but the mode, which a coordinator can change while it runs.
    let options: ConfigurationNode.Content
    /// The addresses it asks for routes to; nil when it does not ask.
    let referenceDestinations: [InternetAddress]?

    /// Whether a monitor made for the other one would do exactly the same.
    func isInterchangeable(with other: ConfiguredBackend) -> Bool {
        (self.name, self.type) == (other.name, other.type)
            && (self.options, self.referenceDestinations) == (other.options, other.referenceDestinations)
    }
}
