// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// One key that a part of the program can be configured by, as its getters ask for it.
package struct ConfigurationOption: Hashable, Sendable {
    /// What may stand there.
    package indirect enum Kind: Hashable, Sendable {
        case text
        case texts
        case choice([String])
        case integer(ClosedRange<Int>)
        case boolean
        case duration(ClosedRange<Duration>)
        /// A mapping.
        case section([ConfigurationOption])
        /// A list of mappings.
        case sections([ConfigurationOption])
    }

    /// The key.
    package let key: String
    /// What may stand there; nil for a key that no typed getter asked for.
    package let kind: Kind?
    /// Whether it has to be there.
    package let isRequired: Bool
    /// What holds when it is absent; nil where nothing does.
    package let fallback: ConfigurationNode.Content?
}

extension ConfigurationSection {
    /// The keys the getters of a section from ``probing`` were asked for, in the order of asking.
    package var options: [ConfigurationOption] {
        self.knownKeys.map { key in
            let kind: ConfigurationOption.Kind? =
                switch self.children[key] {
                case .mapping(let section): .section(section.options)
                case .list(let sections): .sections(sections.first?.options ?? [])
                case nil: self.kinds?[key]
                }
            return ConfigurationOption(
                key: key,
                kind: kind,
                isRequired: self.requiredKeys.contains(key),
                fallback: self.fallbacks[key]
            )
        }
    }
}
