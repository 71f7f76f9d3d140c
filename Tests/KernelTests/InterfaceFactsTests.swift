// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A plugin that knows an interface and no path, beside netlink, in what the program prints.
///
/// As root only: a mapped root may execute nothing of the system's.
@Suite(.needsNamespaces, .enabled(if: geteuid() == 0, "plugins of a lab belong to root"))
struct InterfaceFactsTests {
    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private func configuration(_ lines: String) throws -> String {
        let script = "echo '{\"netpath\":1}'; \(lines); exec sleep 1000"
        let text = String(decoding: try JSONEncoder().encode(script), as: UTF8.self)
            .replacingOccurrences(of: "\\/", with: "/")
        return "backends:\n  - type: netlink\n  - {type: exec, name: modem, command: [/bin/sh, -c, \(text)]}\n"
    }

    @Test func factsAreShownWithTheInterface() throws {
        let facts = #"{"facts":[{"name":"wan0","type":"cellular","isConstrained":true,"label":"LTE, roaming"}]}"#
        let path = try Watched.write(self.configuration("echo '\(facts)'"), in: self.lab)
        let status = try JSONValue(json: self.lab.run("\(Watched.program) status --probe --json --config \(path)"))
        let interface = status["interfaces"]?.elements.first
        #expect(status["reason"]?["code"] == "routed" && status["statedBy"] == .null)
        #expect(interface?["type"] == "cellular" && interface?["gateways"]?.elements == ["192.0.2.1"])
        #expect(interface?["labels"]?.elements.first?["text"] == "LTE, roaming")
        #expect(status["isExpensive"] == true && status["isConstrained"] == true)
        let screen = try self.lab.run("\(Watched.program) status --probe --config \(path)")
        #expect(screen.contains("LTE, roaming (modem says)"), "\(screen)")
        #expect(screen.contains("healthy: describes wan0"), "\(screen)")
        let explanation = try self.lab.run("\(Watched.program) explain --probe --config \(path)")
        #expect(explanation.contains("modem says of wan0"), "\(explanation)")
    }

    /// It keeps no standby from running, and a fresh look waits for that one's word.
    @Test(arguments: [
        ("status --probe", "satisfied"), ("explain --probe", "satisfied"), ("reach 9.0.0.1", "reachable"),
    ])
    func aStandbyAnswersBesideIt(question: String, status: String) throws {
        let facts = #"{"facts":[{"name":"wan0","label":"LTE"}]}"#
        let lines = try self.configuration("echo '\(facts)'").replacing("  - type: netlink\n", with: "")
        let path = try Watched.write(lines + "  - {type: netlink, mode: standby}\n", in: self.lab)
        let command = "\(try Watched.program) \(question) --json --config \(path) || test $? -eq 69"
        #expect(try JSONValue(json: self.lab.run(command))["status"]?.string == status)
    }

    /// A step that only the daemon knows of is the reason; when the daemon is gone, it is what the kernel says again.
    @Test func aPendingStepLastsAsLongAsTheWordOfIt() throws {
        let facts = #"{"facts":[{"name":"wan0","pending":{"code":"authenticating","message":"a PIN is wanted"}}]}"#
        let flag = "\(self.lab.directory)/ended"
        let lines = "echo '\(facts)'; while [ ! -e \(flag) ]; do sleep 0.05; done; echo '{\"unavailable\":\"gone\"}'"
        let watched = try Watched(self.lab, configuration: self.configuration(lines))
        try watched.expect("satisfied", "routed")
        let line = try watched.expect("requiresConnection", "authenticating") {
            try self.lab.removeDefaultRoute()
        }
        #expect(line["reason"]?["message"]?.string?.contains("wan0: a PIN is wanted (modem says)") == true)
        let after = try watched.expect("unsatisfied", "noRoute") { try self.lab.run("touch \(flag)") }
        #expect(after["stale"] == false)
    }
}
