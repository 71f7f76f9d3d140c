// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// A configuration as it is in effect: every value, and where it comes from.
package struct EffectiveConfiguration: Sendable, Hashable {
    /// Where a value comes from.
    package struct Origin: Sendable, Hashable, CustomStringConvertible {
        /// The file, `--set 1`, `$NETPATH_SET`, or `default`.
        package let name: String
        /// The line in a file.
        package let line: Int?

        /// The origin as comments name it, such as `/etc/netpath/netpath.yaml:12`.
        package var description: String {
            self.name.printable(limit: 200) + (self.line.map { ":\($0)" } ?? "")
        }
    }

    /// One value.
    package struct Value: Sendable, Hashable {
        /// Where it stands, such as `backends[0].mode`.
        package let path: String
        /// The value as it is written; `[]` for an empty list.
        package let text: String
        /// Where it comes from.
        package let origin: Origin
    }

    let root: ConfigurationNode
    let document: ConfigurationSource
    let dropIns: Set<String>

    /// All values, in the order in which they were read.
    package var values: [Value] {
        self.values(self.root, path: "")
    }

    private func values(_ node: ConfigurationNode, path: String) -> [Value] {
        switch node.content {
        case .mapping(let entries):
            entries.flatMap { entry in
                let key = (entry.key.text ?? "").printable(limit: 60)
                return self.values(entry.value, path: path.isEmpty ? key : "\(path).\(key)")
            }
        case .sequence(let elements) where !elements.isEmpty:
            elements.enumerated().flatMap { self.values($0.element, path: "\(path)[\($0.offset)]") }
        case .sequence: [Value(path: path, text: "[]", origin: self.origin(of: node))]
        case .scalar(let text, _): [Value(path: path, text: text, origin: self.origin(of: node))]
        }
    }

    func origin(of node: ConfigurationNode) -> Origin {
        let source = node.source ?? self.document
        let isDefault = source == ConfigurationSection.programSource || source.name == LoadedConfiguration.embeddedName
        if isDefault { return Origin(name: ConfigurationSection.programSource.name, line: nil) }
        let isOfFile = node.source == nil || self.dropIns.contains(source.name)
        return Origin(name: source.name, line: isOfFile ? node.position.line : nil)
    }
}
