// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

/// As much of JSON Schema (draft 2020-12) as the schema of the configuration uses; any other word is an error.
struct SchemaValidator {
    struct UnknownWord: Error {
        let word: String
    }

    let root: [String: Any]

    init(contentsOf path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        self.root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    /// The paths of all keys the schema knows, such as `backends[].type`.
    func keyPaths(_ schema: [String: Any]? = nil) -> Set<String> {
        let schema = self.resolved(schema ?? self.root)
        var paths: Set<String> = []
        for (key, value) in schema["properties"] as? [String: [String: Any]] ?? [:] {
            paths.insert(key)
            let value = self.resolved(value)
            paths.formUnion(self.keyPaths(value).map { "\(key).\($0)" })
            guard let items = value["items"] as? [String: Any] else { continue }
            for entry in items["anyOf"] as? [[String: Any]] ?? [items] {
                paths.formUnion(self.keyPaths(entry).map { "\(key)[].\($0)" })
            }
        }
        return paths
    }

    /// Tells whether a value is valid.
    func accepts(_ node: ConfigurationNode) throws -> Bool {
        try self.accepts(Self.value(of: node), self.root)
    }

    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let name = (schema["$ref"] as? String)?.split(separator: "/").last else { return schema }
        let definitions = self.root["$defs"] as? [String: [String: Any]] ?? [:]
        return schema.merging(definitions[String(name)] ?? [:]) { own, _ in own }
    }

    private func accepts(_ value: Any, _ schema: [String: Any]) throws -> Bool {
        let schema = self.resolved(schema)
        for (word, wanted) in schema {
            guard try self.holds(word, wanted, for: value, in: schema) else { return false }
        }
        return true
    }

    private func holds(_ word: String, _ wanted: Any, for value: Any, in schema: [String: Any]) throws -> Bool {
        let (text, number) = (value as? String, value as? Int)
        let (list, object) = (value as? [Any], value as? [String: Any])
        switch word {
        case "$schema", "$defs", "$ref", "title", "description", "default": return true
        case "type":
            let types = wanted as? [String] ?? [wanted as? String ?? ""]
            return types.contains(Self.type(of: value))
        case "const": return text == wanted as? String
        case "enum": return (wanted as? [String] ?? []).contains { $0 == text }
        case "pattern": return try text?.contains(Regex(wanted as? String ?? "")) ?? true
        case "minLength": return (text?.count ?? .max) >= wanted as? Int ?? 0
        case "minimum": return (number ?? .max) >= wanted as? Int ?? 0
        case "maximum": return (number ?? .min) <= wanted as? Int ?? 0
        case "minItems": return (list?.count ?? .max) >= wanted as? Int ?? 0
        case "minProperties": return (object?.count ?? .max) >= wanted as? Int ?? 0
        case "required":
            return object.map { value in (wanted as? [String] ?? []).allSatisfy { value[$0] != nil } } ?? true
        case "items": return try list?.allSatisfy { try self.accepts($0, wanted as? [String: Any] ?? [:]) } ?? true
        case "anyOf": return try (wanted as? [[String: Any]] ?? []).contains { try self.accepts(value, $0) }
        case "properties":
            let properties = wanted as? [String: [String: Any]] ?? [:]
            return try object?.allSatisfy { key, value in
                try properties[key].map { try self.accepts(value, $0) } ?? true
            }
                ?? true
        case "additionalProperties":
            let known = schema["properties"] as? [String: Any] ?? [:]
            return object?.keys.allSatisfy { known[$0] != nil } ?? true
        default: throw UnknownWord(word: word)
        }
    }

    // MARK: Values

    /// A value as an editor sees it, which decides by itself what an unquoted word is.
    private static func value(of node: ConfigurationNode) -> Any {
        switch node.content {
        case .scalar(let text, true): text
        case .scalar(let text, false):
            text == "true" ? true : text == "false" ? false : text.isEmpty ? NSNull() : Int(text) ?? text as Any
        case .sequence(let elements): elements.map(Self.value)
        case .mapping(let entries):
            Dictionary(entries.map { ($0.key.text ?? "", Self.value(of: $0.value)) }, uniquingKeysWith: { $1 })
        }
    }

    private static func type(of value: Any) -> String {
        switch value {
        case is String: "string"
        case is Bool: "boolean"
        case is Int: "integer"
        case is [Any]: "array"
        case is [String: Any]: "object"
        default: "null"
        }
    }
}
