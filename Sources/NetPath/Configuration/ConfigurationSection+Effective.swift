// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension ConfigurationSection {
    /// What values of ``effective`` stand in that stand nowhere: the program's own defaults.
    package static let programSource = ConfigurationSource(name: "default", bytes: [])

    /// Every value the getters were asked for, and what they answered, in the order of asking.
    ///
    /// To be read after the last getter, when nothing is wrong. What is neither given nor has a default is left out.
    package var effective: ConfigurationNode {
        let entries = self.knownKeys.compactMap { key in
            self.effectiveValue(key).map { value in
                ConfigurationNode.Entry(key: Self.node(.scalar(text: key, isQuoted: false)), value: value)
            }
        }
        return Self.node(.mapping(entries))
    }

    private func effectiveValue(_ key: String) -> ConfigurationNode? {
        let given = self.entries[key]?.value
        switch self.children[key] {
        case .mapping(let section): return section.effective
        case .list(let sections):
            let list = ConfigurationNode.Content.sequence(sections.map(\.effective))
            return given.map { ConfigurationNode(list, at: $0.position, in: $0.source) } ?? Self.node(list)
        case nil: return given ?? self.fallbacks[key].map(Self.node)
        }
    }

    static func node(_ content: ConfigurationNode.Content) -> ConfigurationNode {
        ConfigurationNode(content, at: SourcePosition(line: 1, column: 1), in: self.programSource)
    }

    /// The paths of all keys the getters were asked for, such as `backends[].type`.
    package var keyPaths: Set<String> {
        var paths = Set(self.knownKeys)
        for (key, children) in self.children {
            let separator = if case .list = children { "[]." } else { "." }
            for section in children.sections { paths.formUnion(section.keyPaths.map { key + separator + $0 }) }
        }
        return paths
    }
}
