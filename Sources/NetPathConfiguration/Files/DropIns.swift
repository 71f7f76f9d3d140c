// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The files beside a configuration file that change it: `netpath.yaml.d/*.yaml` for `netpath.yaml`.
enum DropIns {
    /// More are refused, as a file with too many values is.
    private static let limit = 256

    /// The folder of a file.
    static func folder(of path: String) -> String { path + ".d" }

    /// The files in it in the order in which they apply, which is that of the bytes of their names.
    static func files(of path: String) -> [String] {
        FileAccess.names(in: self.folder(of: path))
            .filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { "\(self.folder(of: path))/\($0)" }
    }

    /// Reads them.
    ///
    /// - Throws: What is wrong with any of the files.
    static func read(of path: String) throws(ConfigurationError) -> [ConfigurationSource] {
        let files = self.files(of: path)
        guard files.count <= self.limit else {
            let message = "holds more than \(self.limit) files; put them together"
            throw ConfigurationError(ConfigurationDiagnostic(origin: self.folder(of: path), message: message))
        }
        var sources: [ConfigurationSource] = []
        for file in files { sources.append(try ConfigurationFile.read(file)) }
        return sources
    }
}

extension ConfigurationNode {
    /// This value changed by another one: mappings key by key, anything else as a whole.
    func merged(with other: ConfigurationNode) -> ConfigurationNode {
        guard case .mapping(var entries) = self.content, case .mapping(let others) = other.content else { return other }
        for entry in others {
            guard let index = entries.firstIndex(where: { $0.key.text == entry.key.text }) else {
                entries.append(entry)
                continue
            }
            let value = entries[index].value.merged(with: entry.value)
            let isReplaced = value.source == entry.value.source
            entries[index] = Entry(key: isReplaced ? entry.key : entries[index].key, value: value)
        }
        return ConfigurationNode(.mapping(entries), at: self.position, in: self.source)
    }

    /// Whether it consists of keys and values.
    var isMapping: Bool { if case .mapping = self.content { true } else { false } }

    /// The value of a key, where this is a mapping that has it.
    func value(of key: String) -> ConfigurationNode? {
        guard case .mapping(let entries) = self.content else { return nil }
        return entries.first { $0.key.text == key }?.value
    }
}
