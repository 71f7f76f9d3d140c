// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The keys and values that one part of the program is configured by, such as one entry of `backends`.
///
/// The receiver of a section asks it for the keys it knows. Nothing throws: a value that is wrong is recorded with
/// its place, and the getter returns the default, so that all errors of a file are reported at once.
/// ``validate()`` on the outermost section then refuses the file, naming also every key that was not asked for.
///
/// ```swift
/// let interval = section.duration("interval", default: .seconds(2), in: .milliseconds(100) ... .seconds(3600))
/// let targets = section.strings("targets")
/// if targets.isEmpty { section.reject("targets", "must name at least one host:port") }
/// ```
///
/// A section belongs to the one task that reads the configuration.
public final class ConfigurationSection {
    /// The place of the section in the file's structure, such as `backends[0]`; empty for the whole file.
    public let path: String

    /// Where the section begins, `nil` when it comes from no file.
    public let position: SourcePosition?

    /// The addresses that stand for the whole internet, as the file or the program has them.
    ///
    /// For backends that ask for routes, so that all of them ask for the same ones.
    public package(set) var referenceDestinations: [InternetAddress] {
        get {
            self.usesReferenceDestinations = true
            return self.givenReferenceDestinations
        }
        set { self.givenReferenceDestinations = newValue }
    }
    private var givenReferenceDestinations = ReferenceRoute.defaultDestinations
    /// Whether a backend asked for ``referenceDestinations``, and so depends on them.
    package private(set) var usesReferenceDestinations = false

    /// The sections below one key.
    enum Children {
        case mapping(ConfigurationSection)
        case list([ConfigurationSection])

        var sections: [ConfigurationSection] {
            switch self {
            case .mapping(let section): [section]
            case .list(let sections): sections
            }
        }
    }

    let collector: DiagnosticCollector
    let entries: [String: ConfigurationNode.Entry]
    /// In the order of asking, which is the order in which messages list what is allowed.
    private(set) var knownKeys: [String] = []
    /// The sections handed out so far: the same ones again for the same key, and all finished with this one.
    private(set) var children: [String: Children] = [:]
    /// What holds for absent keys, as the getters were told.
    private(set) var fallbacks: [String: ConfigurationNode.Content] = [:]
    /// What the getters expect of each key, where a section is made to find that out; nil everywhere else.
    private(set) var kinds: [String: ConfigurationOption.Kind]?
    /// The keys that have to be there, likewise.
    private(set) var requiredKeys: Set<String> = []
    /// The text the section stands in.
    private let source: ConfigurationSource
    private var isFinished = false
    private var refusesReservedOptions = false

    /// Creates the outermost section of a file.
    ///
    /// - Parameters:
    ///   - node: The content of the file; anything but a mapping is recorded as an error.
    ///   - source: The file, from which diagnostics quote.
    ///   - errors: What was found to be wrong with the file before.
    package convenience init(
        _ node: ConfigurationNode,
        in source: ConfigurationSource,
        known errors: [ConfigurationDiagnostic] = []
    ) {
        let collector = DiagnosticCollector(source: source)
        for error in errors { collector.record(error) }
        self.init(node, path: "", collector: collector)
        if case .mapping = node.content { return }
        let message = "the file must consist of keys and values such as 'backends:'"
        collector.record(ConfigurationDiagnostic(message, in: source, at: node.position, found: node.summary))
    }

    private init(
        _ node: ConfigurationNode?,
        path: String,
        collector: DiagnosticCollector,
        position: SourcePosition? = nil,
        notesKinds: Bool = false
    ) {
        var entries: [String: ConfigurationNode.Entry] = [:]
        if case .mapping(let all)? = node?.content {
            for entry in all {
                guard let key = entry.key.text, entries[key] == nil else { continue }
                entries[key] = entry
            }
        }
        self.path = path
        self.position = node?.position ?? position
        self.source = node?.source ?? collector.source
        self.collector = collector
        self.entries = entries
        self.kinds = notesKinds ? [:] : nil
    }

    /// A section in which every key is absent, as when a backend is made from code.
    public static var empty: ConfigurationSection { self.ofNoFile(notesKinds: false) }

    /// A section in which every key is absent, nested ones are handed out all the same, and what the getters expect is
    /// noted: see ``options``.
    package static var probing: ConfigurationSection { self.ofNoFile(notesKinds: true) }

    private static func ofNoFile(notesKinds: Bool) -> ConfigurationSection {
        let collector = DiagnosticCollector(source: ConfigurationSource(name: "(no file)", bytes: []))
        return ConfigurationSection(nil, path: "", collector: collector, notesKinds: notesKinds)
    }

    /// The user besides the administrator who may have written a value of the section; nil when there is none.
    ///
    /// How the backend is used does not count.
    package var otherAuthor: String? {
        if let author = self.source.otherAuthor { return author }
        return self.entries.keys.filter { $0 != "mode" }.lazy.compactMap(self.otherAuthor).first
    }

    /// The user besides the administrator who may have written the value of a key; nil when there is none.
    package func otherAuthor(of key: String) -> String? {
        self.source.otherAuthor ?? self.entries[key].flatMap { $0.key.otherAuthor ?? $0.value.otherAuthor }
    }

    // MARK: Keys

    /// Tells whether the section has a key, even one without a usable value.
    public func contains(_ key: String) -> Bool {
        entries[key] != nil
    }

    /// Tells whether the value of a key is a list of nothing.
    package func isEmptyList(_ key: String) -> Bool { entries[key]?.value.content == .sequence([]) }

    /// Records an error if a key is absent.
    public func require(_ key: String) {
        know(key)
        if kinds != nil { requiredKeys.insert(key) }
        if entries[key] == nil { reject(key, "is missing") }
    }

    /// Records that a value is legal and does not do what was probably meant.
    ///
    /// The file is used all the same; `netpath config check` tells.
    ///
    /// - Parameters:
    ///   - key: The key, at whose value the warning is shown; at the section itself when the key is absent.
    ///   - message: What is doubtful and what to write instead, to be read after the key.
    public func warn(_ key: String, _ message: String) {
        know(key)
        collector.warn(diagnostic(message, path: path(of: key), node: entries[key]?.value, severity: .warning))
    }

    /// What was warned of so far, in any section of the file.
    package var warnings: [ConfigurationDiagnostic] { collector.warnings }

    /// Records that a value is wrong for a reason that no getter knows.
    ///
    /// - Parameters:
    ///   - key: The key, at whose value the error is shown; at the section itself when the key is absent.
    ///   - index: The element in question when the value is a list.
    ///   - message: What is wrong, to be read after the key: "must name at least one host".
    ///   - allowed: Everything that may stand there, where that can be listed.
    public func reject(_ key: String, at index: Int? = nil, _ message: String, allowed: [String] = []) {
        know(key)
        var node = entries[key]?.value
        var path = path(of: key)
        if let index {
            path += "[\(index)]"
            if case .sequence(let elements)? = node?.content, elements.indices.contains(index) {
                node = elements[index]
            }
        }
        collector.record(diagnostic(message, path: path, node: node, allowed: allowed))
    }

    /// Takes it that files, by their names, are of a newer version: their unknown keys are warned of and passed over.
    package func takeAsNewer(_ files: Set<String>) { collector.newerFiles = files }

    /// Records every key that was not asked for, here and in the sections that were handed out.
    ///
    /// To be called after the last getter; a second call does nothing.
    package func finish() {
        guard !isFinished else { return }
        isFinished = true
        for (key, entry) in entries where !knownKeys.contains(key) {
            let name = "'\(key.printable(limit: 60))'"
            let source = entry.key.source ?? collector.source
            let isNewer = collector.newerFiles.contains(source.name)
            let message = path.isEmpty ? "unknown key \(name)" : "unknown key \(name) in '\(path)'"
            let diagnostic = ConfigurationDiagnostic(
                isNewer ? "\(message) is skipped: the file is for a newer netpath" : message,
                in: source,
                at: entry.key.position,
                path: path(of: key),
                allowed: knownKeys,
                suggestion: nearestMatch(to: key, among: knownKeys),
                severity: isNewer ? .warning : .error
            )
            if isNewer { collector.warn(diagnostic) } else { collector.record(diagnostic) }
        }
        for child in children.values.flatMap(\.sections) { child.finish() }
    }

    /// Lets every key of this section pass, for when it cannot be known which ones are allowed.
    package func acceptEveryKey() {
        isFinished = true
    }

    /// Finishes the section and refuses the file if anything in it was wrong.
    ///
    /// - Throws: Everything recorded so far by any section of the file.
    public func validate() throws(ConfigurationError) {
        finish()
        if let error = collector.error { throw error }
    }

    // MARK: Nested sections

    /// Reads a nested mapping.
    ///
    /// - Parameter key: The key of the mapping.
    /// - Returns: Its section, `nil` when the key is absent or wrong.
    public func section(_ key: String) -> ConfigurationSection? {
        if case .mapping(let known)? = children[key] { return known }
        let node = value(key)
        if kinds == nil {
            guard let node else { return nil }
            guard case .mapping = node.content else {
                reject(key, "must be a mapping of keys and values")
                return nil
            }
        }
        let child = ConfigurationSection(node, path: path(of: key), collector: collector, notesKinds: kinds != nil)
        children[key] = .mapping(child)
        return child
    }

    /// Reads a nested mapping all of whose keys may be absent, and the mapping with them.
    ///
    /// - Parameter key: The key of the mapping.
    /// - Returns: Its section, an empty one when the key is absent or wrong.
    public func nested(_ key: String) -> ConfigurationSection {
        if let section = section(key) { return section }
        let child = ConfigurationSection(nil, path: path(of: key), collector: collector, position: position)
        children[key] = .mapping(child)
        return child
    }

    /// Reads a list of mappings.
    ///
    /// - Parameter key: The key of the list.
    /// - Returns: A section for each mapping of the list, none when the key is absent or wrong.
    public func sections(_ key: String) -> [ConfigurationSection] {
        if case .list(let known)? = children[key] { return known }
        var elements: [ConfigurationNode] = []
        switch value(key)?.content {
        case .sequence(let nodes): elements = nodes
        case .scalar, .mapping: reject(key, "must be a list of mappings")
        case nil: break
        }
        var result: [ConfigurationSection] = []
        for (index, node) in elements.enumerated() {
            if case .mapping = node.content {
                let path = "\(path(of: key))[\(index)]"
                result.append(ConfigurationSection(node, path: path, collector: collector))
            } else {
                reject(key, at: index, "must be a mapping of keys and values")
            }
        }
        if kinds != nil {
            let path = "\(path(of: key))[0]"
            result = [ConfigurationSection(nil, path: path, collector: collector, notesKinds: true)]
        }
        children[key] = .list(result)
        return result
    }

    // MARK: What the getters share

    /// The value of a key, `nil` when it is absent or, which is recorded, when nothing follows the colon.
    func value(_ key: String) -> ConfigurationNode? {
        know(key)
        guard let entry = entries[key] else { return nil }
        guard !entry.value.isNull else {
            let message = "'\(path(of: key))' has no value; give it one or remove the key"
            collector.record(
                ConfigurationDiagnostic(
                    message,
                    in: entry.key.source ?? collector.source,
                    at: entry.key.position,
                    path: path(of: key)
                )
            )
            return nil
        }
        return entry.value
    }

    /// What is wrong with a value, or doubtful.
    func diagnostic(
        _ message: String,
        path: String,
        node: ConfigurationNode?,
        allowed: [String] = [],
        suggestion: String? = nil,
        severity: ConfigurationDiagnostic.Severity = .error
    ) -> ConfigurationDiagnostic {
        ConfigurationDiagnostic(
            "'\(path)' \(message)",
            in: node.map { $0.source ?? collector.source } ?? source,
            at: node?.position ?? position,
            path: path,
            // A warning is not about the form of a value: "a list" would tell nothing.
            found: severity == .warning && node?.text == nil ? nil : node?.summary,
            allowed: allowed,
            suggestion: suggestion,
            severity: severity
        )
    }

    /// Notes what holds when a key is absent, for those who show the whole configuration.
    func fallBack(_ key: String, to content: ConfigurationNode.Content) {
        know(key)
        fallbacks[key] = content
    }

    /// Notes what a getter expects, for those who describe the configuration.
    func note(_ key: String, _ kind: @autoclosure () -> ConfigurationOption.Kind) {
        if kinds != nil { kinds?[key] = kind() }
    }

    /// The path of a key of this section.
    func path(of key: String) -> String {
        let name = key.printable(limit: 60)
        return path.isEmpty ? name : "\(path).\(name)"
    }

    private func know(_ key: String) {
        if refusesReservedOptions, Self.reservedOptions.contains(key) {
            refusesReservedOptions = false
            defer { refusesReservedOptions = true }
            reject(key, "is an option of every backend; give this one another name")
        }
        if !knownKeys.contains(key) { knownKeys.append(key) }
    }

    /// What every entry of `backends` has.
    static let reservedOptions: Set<String> = ["mode", "name", "type"]

    /// Makes a backend, which may not ask for what every entry has.
    func withoutReservedOptions<Backend>(_ make: (ConfigurationSection) -> Backend) -> Backend {
        refusesReservedOptions = true
        defer { refusesReservedOptions = false }
        return make(self)
    }
}

@available(*, unavailable)
extension ConfigurationSection: Sendable {}
