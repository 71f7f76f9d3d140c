// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The backends that can be named in a configuration, by type.
public struct BackendRegistry: Sendable {
    /// Makes a backend from its section of the configuration.
    ///
    /// Read every option with the section's typed getters: wrong values are recorded there with their position and
    /// answered with the default, so a factory never throws. Unknown keys are rejected after the factory returns.
    public typealias Factory = @Sendable (ConfigurationSection) -> any PathMonitor

    /// A type of backend.
    package struct Registration: Sendable {
        /// The name used as `type:` in the configuration.
        package let type: String
        /// One line for people.
        package let summary: String
        /// The program that runs such backends, where this one can only check their options; nil for this one.
        package let program: String?
        /// A sentence about each option, by its key: for editors, which show it.
        package let options: [String: String]
        /// Makes a backend.
        package let make: Factory
    }

    private var registrations: [String: Registration] = [:]

    /// Creates an empty registry.
    public init() {}

    /// Adds a type of backend, or replaces the one of that name.
    ///
    /// - Parameters:
    ///   - type: The name used as `type:` in the configuration.
    ///   - summary: One line for people.
    ///   - program: The program that runs such backends, where this one can only check their options.
    ///   - options: A sentence about each option, by its key; `header.name` for one of a nested section, `checks[].url`
    ///     for one of a list of sections. `netpath config schema` tells them to editors.
    ///   - make: Makes a backend of its section, of which `type`, `name` and `mode` are netpath's own: a backend that asks
    ///     for one of them is refused, with the place in the file. It is also called without a configuration, to learn which options there
    ///     are, so it should ask for every one of them, whatever the others say.
    public mutating func register(
        _ type: String,
        summary: String,
        program: String? = nil,
        options: [String: String] = [:],
        make: @escaping Factory
    ) {
        let reserved = options.keys.filter(ConfigurationSection.reservedOptions.contains).sorted()
        precondition(reserved.isEmpty, "'\(type)' cannot have the options \(reserved): every backend has them")
        self.registrations[type] = Registration(
            type: type,
            summary: summary,
            program: program,
            options: options,
            make: { section in section.withoutReservedOptions(make) }
        )
    }

    /// Finds a type by name.
    package func registration(for type: String) -> Registration? {
        self.registrations[type]
    }

    /// All types, sorted by name.
    package var all: [Registration] {
        self.registrations.values.sorted { $0.type < $1.type }
    }
}
