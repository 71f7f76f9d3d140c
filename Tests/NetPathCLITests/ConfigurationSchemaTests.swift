// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPathCLI

/// `netpath config schema`.
@Suite struct ConfigurationSchemaTests {
    private struct Monitor: PathMonitor {
        func run(_ context: MonitorContext) async throws {}
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Runs the command; what it wrote.
    private func schema(of registry: BackendRegistry, _ options: String...) throws -> String {
        let output = Mutex("")
        var context = ToolContext()
        context.registry = registry
        context.write = { text in output.withLock { $0 += text } }
        #expect(NetPathTool.run(["config", "schema"] + options, in: context) == .satisfied)
        return output.withLock(\.self)
    }

    @Test func ofWhatComesWithNetpathItIsTheFile() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Config/netpath.schema.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(try self.schema(of: .builtIn) == text)
        let line = try self.schema(of: .builtIn, "--json")
        #expect(line.filter { $0 == "\n" }.count == 1)
        #expect(try JSONValue(json: line) == JSONValue(json: text))
    }

    /// What is written by hand says at least what the getters say.
    @Test(arguments: BackendRegistry.builtIn.all.map(\.type))
    func theFileSaysWhatTheGettersSay(_ type: String) throws {
        let registration = try #require(BackendRegistry.builtIn.registration(for: type))
        var worked = try self.object(ConfigurationSchema.schema(of: registration).line)
        // A sentence for editors is not the one for `netpath backends`.
        worked["description"] = nil
        let definitions = try #require(try self.object(ConfigurationSchema.builtIn)["$defs"] as? [String: Any])
        let byHand = try #require(definitions[type])
        for difference in self.differences(worked, byHand, definitions) { Issue.record("\(type)\(difference)") }
    }

    /// Where the second schema does not say what the first one does.
    private func differences(_ first: Any, _ second: Any, _ definitions: [String: Any]) -> [String] {
        switch (first, second) {
        case (let first as [String: Any], var second as [String: Any]):
            if let name = (second["$ref"] as? String)?.split(separator: "/").last, first["$ref"] == nil,
                let definition = definitions[String(name)] as? [String: Any]
            {
                second.merge(definition) { own, _ in own }
            }
            return first.flatMap { key, value -> [String] in
                if key == "description" { return [] }
                guard let other = second[key] else {
                    // A default may depend on another option, and what is required on what else is there.
                    let mayBeMissing = key == "default" || key == "required" && second["anyOf"] != nil
                    return mayBeMissing ? [] : [".\(key) is missing"]
                }
                if key == "required", let first = value as? [String], let other = other as? [String] {
                    // Some are missed by a sentence of the reader's own.
                    return Set(first).isSubset(of: other) ? [] : [".\(key): \(first) is \(other)"]
                }
                return self.differences(value, other, definitions).map { ".\(key)\($0)" }
            }
        case (let first as [String], let second as [String]):
            return Set(first) == Set(second) ? [] : [": \(first) is \(second)"]
        default:
            return (first as? NSObject) == (second as? NSObject) ? [] : [": \(first) is \(second)"]
        }
    }

    @Test func typesOfOnesOwnAreDescribedByTheirGetters() throws {
        enum Level: String, CaseIterable { case low, high }
        var registry = BackendRegistry.builtIn
        registry.register(
            "door",
            summary: "a file that says whether there is a path",
            options: ["path": "The file.", "server.port": "Where it listens.", "doors[].name": "What it is called."]
        ) { section in
            _ = section.requiredString("path")
            _ = section.strings("also", default: ["a"])
            _ = section.duration("interval", default: .seconds(2), in: .seconds(1) ... .seconds(60))
            _ = section.choice("level", default: Level.low)
            _ = section.boolean("loud", default: false)
            _ = section.section("server")?.integer("port", default: 80, in: 1...65_535)
            for door in section.sections("doors") { _ = door.requiredString("name") }
            return Monitor()
        }
        let text = try self.schema(of: registry)
        let schema = try self.object(text)
        let definitions = try #require(schema["$defs"] as? [String: Any])
        let expected = """
            {"type": "object", "description": "a file that says whether there is a path",
             "additionalProperties": false, "required": ["type", "path"], "properties": {
              "type": {"const": "door"}, "name": {"$ref": "#/$defs/name"}, "mode": {"$ref": "#/$defs/mode"},
              "path": {"type": "string", "description": "The file."},
              "also": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
              "interval": {"$ref": "#/$defs/duration", "description": "A duration from 1s to 1m.", "default": "2s"},
              "level": {"enum": ["low", "high"], "default": "low"},
              "loud": {"type": "boolean", "default": false},
              "server": {"type": "object", "additionalProperties": false, "properties": {"port": {"type": "integer",
                "minimum": 1, "maximum": 65535, "default": 80, "description": "Where it listens."}}},
              "doors": {"type": "array", "items": {"type": "object", "additionalProperties": false,
                "required": ["name"], "properties": {"name": {"type": "string", "description": "What it is called."}}}}
            }}
            """
        #expect(try JSONValue(json: text)["$defs"]?["door"] == JSONValue(json: expected))
        let backends = (schema["properties"] as? [String: Any])?["backends"] as? [String: Any]
        let types = (backends?["items"] as? [String: Any])?["anyOf"] as? [[String: String]]
        #expect(types?.contains(["$ref": "#/$defs/door"]) == true)
        #expect(types?.count == registry.all.count)
        // What comes with netpath is still described by hand.
        let netlink = definitions["netlink"] as? [String: Any]
        #expect(netlink?["description"] as? String == "The kernel's route netlink socket.")
    }

    @Test func whoTakesThePlaceOfABuiltInTypeSaysItsOwnOptions() throws {
        var registry = BackendRegistry.builtIn
        registry.register("sysfs", summary: "another one") { section in
            _ = section.string("root")
            return Monitor()
        }
        let schema = try self.object(try self.schema(of: registry))
        let sysfs = (schema["$defs"] as? [String: Any])?["sysfs"] as? [String: Any]
        #expect(Set((sysfs?["properties"] as? [String: Any] ?? [:]).keys) == ["type", "name", "mode", "root"])
    }
}
