// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// The JSON Schema (draft 2020-12) of the configuration, for editors.
///
/// What comes with netpath is described by hand, in `Config/netpath.schema.json`. Types of backends that a program adds
/// are described by what they ask their sections for.
enum ConfigurationSchema {
    /// The schema of what comes with netpath.
    static let builtIn = String(decoding: PackageResources.netpath_schema_json, as: UTF8.self)

    /// The schema of a configuration that can name the backends of a registry.
    ///
    /// - Parameter registry: The backends.
    /// - Returns: The schema, as a value and as text.
    /// - Throws: `JSONFault` when the schema by hand is no JSON.
    static func schema(of registry: BackendRegistry) throws -> (document: JSONNode, text: String) {
        var root = try JSONReader.read(Array(self.builtIn.utf8)[...])
        let added = registry.all.filter { type in
            // One that takes the place of a built-in type may ask for other things.
            BackendRegistry.builtIn.registration(for: type.type).map { self.options(of: $0) != self.options(of: type) }
                ?? true
        }
        guard !added.isEmpty else { return (root, self.builtIn) }
        for type in added { root["$defs"]?[type.type] = self.schema(of: type) }
        let references = registry.all.map { JSONNode.object([("$ref", .string("#/$defs/\($0.type)"))]) }
        root["properties"]?["backends"]?["items"] = ["anyOf": .array(references)]
        return (root, root.indented() + "\n")
    }

    private static func options(of type: BackendRegistry.Registration) -> [ConfigurationOption] {
        let section = ConfigurationSection.probing
        _ = type.make(section)
        return section.options
    }

    /// The schema of an entry of `backends`.
    static func schema(of type: BackendRegistry.Registration) -> JSONNode {
        let options = self.options(of: type)
        var schema = self.mapping(options, describedBy: type.options)
        schema["description"] = .string(type.summary)
        schema["required"] = .strings(["type"] + options.filter(\.isRequired).map(\.key))
        let common: [JSONObject.Member] = [
            ("type", ["const": .string(type.type)]), ("name", ["$ref": .string("#/$defs/name")]),
            ("mode", ["$ref": .string("#/$defs/mode")]),
        ]
        schema["properties"] = .object(common + (schema["properties"]?.members ?? []))
        return schema
    }

    private static func mapping(
        _ options: [ConfigurationOption],
        describedBy descriptions: [String: String],
        at path: String = ""
    ) -> JSONNode {
        let properties: [JSONObject.Member] = options.map { option in
            (option.key, self.value(option, describedBy: descriptions, at: path + option.key))
        }
        var schema: JSONNode = [
            "type": .string("object"), "additionalProperties": .bool(false), "properties": .object(properties),
        ]
        let required = options.filter(\.isRequired).map(\.key)
        if !required.isEmpty { schema["required"] = .strings(required) }
        return schema
    }

    private static func value(
        _ option: ConfigurationOption,
        describedBy descriptions: [String: String],
        at path: String
    ) -> JSONNode {
        var schema: JSONNode =
            switch option.kind {
            case .text: ["type": .string("string")]
            case .texts: ["type": .string("array"), "items": ["type": .string("string")]]
            case .choice(let words): ["enum": .strings(words)]
            case .integer(let range):
                [
                    "type": .string("integer"), "minimum": .integer(range.lowerBound),
                    "maximum": .integer(range.upperBound),
                ]
            case .boolean: ["type": .string("boolean")]
            case .duration: ["$ref": .string("#/$defs/duration")]
            case .section(let options): self.mapping(options, describedBy: descriptions, at: path + ".")
            case .sections(let options):
                [
                    "type": .string("array"),
                    "items": self.mapping(options, describedBy: descriptions, at: path + "[]."),
                ]
            case nil: [:]
            }
        var sentence = descriptions[path]
        if case .duration(let range) = option.kind {
            let bounds = "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
            sentence = [sentence, "A duration from \(bounds)."].compactMap(\.self).joined(separator: " ")
        }
        if let sentence { schema["description"] = .string(sentence) }
        if !option.isRequired, let fallback = option.fallback { schema["default"] = JSONNode(fallback) }
        return schema
    }
}

extension JSONNode {
    /// What holds where a key is absent.
    fileprivate init(_ content: ConfigurationNode.Content) {
        switch content {
        case .scalar(let text, isQuoted: false):
            self = Bool(text).map(JSONNode.bool) ?? Int64(text).map(JSONNode.integer) ?? .string(text)
        case .scalar(let text, isQuoted: true): self = .string(text)
        case .sequence(let elements): self = .array(elements.map { JSONNode($0.content) })
        case .mapping(let entries):
            self = .object(entries.map { (key: $0.key.text ?? "", value: JSONNode($0.value.content)) })
        }
    }

    /// The text, a member or an element on each line.
    fileprivate func indented(_ margin: String = "") -> String {
        let inner = margin + "  "
        func list(_ parts: [String], _ open: String, _ close: String) -> String {
            parts.isEmpty
                ? open + close : "\(open)\n\(inner)\(parts.joined(separator: ",\n\(inner)"))\n\(margin)\(close)"
        }
        return switch self {
        case .array(let elements): list(elements.map { $0.indented(inner) }, "[", "]")
        case .object(let members):
            list(members.map { "\(JSONNode.string($0.key).line): \($0.value.indented(inner))" }, "{", "}")
        default: self.line
        }
    }
}
