// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ConfigurationOverride {
    /// Puts the value into a configuration, in place of what stands there or where nothing does.
    ///
    /// - Parameter root: The configuration.
    /// - Returns: The configuration with the value in it; whether anybody reads it there shows when it is read.
    /// - Throws: What is wrong with the override, or where its path does not fit.
    func applied(to root: ConfigurationNode) throws(ConfigurationError) -> ConfigurationNode {
        let (steps, value) = try self.read()
        return try self.replacing(root, steps[...], with: value, path: "")
    }

    private func replacing(
        _ node: ConfigurationNode?,
        _ steps: ArraySlice<Step>,
        with value: ConfigurationNode,
        path: String
    ) throws(ConfigurationError) -> ConfigurationNode {
        guard let step = steps.first else { return value }
        guard let node, node.content != .scalar(text: "", isQuoted: false) else {
            let empty: ConfigurationNode.Content = step.text == "0" ? .sequence([]) : .mapping([])
            let made = ConfigurationNode(empty, at: step.position, in: self.source)
            return try self.replacing(made, steps, with: value, path: path)
        }
        let rest = steps.dropFirst()
        switch node.content {
        case .mapping(var entries):
            let path = path.isEmpty ? step.text : "\(path).\(step.text)"
            let index = entries.firstIndex { $0.key.text == step.text }
            let new = try self.replacing(index.map { entries[$0].value }, rest, with: value, path: path)
            // A complaint about the key of a value given here has to point here.
            let own = ConfigurationNode(.scalar(text: step.text, isQuoted: false), at: step.position, in: self.source)
            let key = index.map { rest.isEmpty ? own : entries[$0].key } ?? own
            let entry = ConfigurationNode.Entry(key: key, value: new)
            if let index { entries[index] = entry } else { entries.append(entry) }
            return ConfigurationNode(.mapping(entries), at: node.position, in: node.source)
        case .sequence(var elements):
            let index = try self.index(of: step, in: elements, path: path)
            let old = elements.indices.contains(index) ? elements[index] : nil
            let new = try self.replacing(old, rest, with: value, path: "\(path)[\(index)]")
            if old != nil { elements[index] = new } else { elements.append(new) }
            return ConfigurationNode(.sequence(elements), at: node.position, in: node.source)
        case .scalar:
            throw self.error(
                "'\(path.printable(limit: 200))' is a single value and holds nothing",
                about: step,
                path: path
            )
        }
    }

    /// Finds an entry of a list; the number after the last one stands for a new entry.
    private func index(
        of step: Step,
        in elements: [ConfigurationNode],
        path: String
    ) throws(ConfigurationError) -> Int {
        if let number = Int(step.text) {
            if (0...elements.count).contains(number) { return number }
            let count = elements.count
            let message = "'\(path.printable(limit: 200))' takes numbers from 0 to \(count); \(count) adds an entry"
            throw self.error(message, about: step, path: path)
        }
        let names = elements.map(Self.name)
        if let index = names.firstIndex(of: step.text) { return index }
        let known = names.compactMap { $0 }
        throw self.error(
            "'\(path.printable(limit: 200))' has no entry of this name; name one, or give its number from 0",
            about: step,
            path: path,
            allowed: known.map { $0.printable(limit: 60) },
            suggestion: nearestMatch(to: step.text, among: known)
        )
    }

    /// What an entry of a list is called: its name, else its type.
    private static func name(of node: ConfigurationNode) -> String? {
        node.value(of: "name")?.text ?? node.value(of: "type")?.text
    }

    private func error(
        _ message: String,
        about step: Step,
        path: String,
        allowed: [String] = [],
        suggestion: String? = nil
    ) -> ConfigurationError {
        ConfigurationError(
            ConfigurationDiagnostic(
                message,
                in: self.source,
                at: step.position,
                path: path,
                found: "'\(step.text.printable(limit: 60))'",
                allowed: allowed,
                suggestion: suggestion
            )
        )
    }
}
