// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct FieldPathTests {
    /// A document with something in every list of objects.
    private static var full: JSONNode {
        var probing = Evidence(at: Fixtures.now)
        probing.probes = ProbeRound(outcomes: [ProbeOutcome(target: "a:1", result: .connected)], isComplete: true)
        let blind = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        var facts = InterfaceFacts("eth0")
        facts.label = "dock"
        var labelled = Fixtures.routed
        labelled.statements = [InterfaceStatement(by: "desk", facts)]
        return Fixtures.snapshot([
            Fixtures.backendSnapshot(labelled), Fixtures.backendSnapshot(blind, by: "other"),
            Fixtures.backendSnapshot(probing, by: "probe"),
        ]).document
    }

    private func compare(_ value: JSONNode, _ sample: JSONNode, at place: String) {
        switch (value, sample) {
        case (.object(let members), .object(let samples)):
            #expect(members.keys == samples.keys, "\(place)")
            for (member, sample) in zip(members, samples) {
                self.compare(member.value, sample.value, at: place + "." + member.key)
            }
        case (.array(let elements), .array(let samples)):
            if case .object? = samples.first { #expect(!elements.isEmpty, "\(place) is not tested") }
            for element in elements { self.compare(element, samples.first ?? .null, at: place + ".0") }
        case (.object, _), (.array, _): Issue.record("\(place) has members that cannot be named")
        // An unknown reason is null.
        default: break
        }
    }

    @Test func everythingThatIsWrittenHasAName() {
        self.compare(Self.full, FieldPath.document, at: "")
    }

    @Test(
        arguments: [
            ("status", "satisfied"), ("reason.code", "routed"), ("interfaces.0.name", "eth0"),
            ("interfaces[0].name", "eth0"),
            ("interfaces.0.reason.message", "eth0 carries the path"), ("interfaces.0.index", "2"),
            ("interfaces.0.addresses", #"["192.0.2.7/24"]"#), ("interfaces.0.addresses.0", "192.0.2.7/24"),
            ("gateways", #"[{"address":"192.0.2.1","interface":2,"answers":null}]"#), ("supportsIPv6", "false"),
            ("carriedBy", "null"),
            ("interfaces.1.name", "null"), ("interfaces.99999999999.name", "null"), ("backends.1.name", "other"),
        ]
    )
    func values(_ name: String, _ expected: String) throws {
        #expect(try FieldPath(parsing: name).value(in: Self.full).plainText == expected)
    }

    @Test func whatIsNotKnownIsNull() throws {
        #expect(try FieldPath(parsing: "reason.code").value(in: Fixtures.unknown.document) == .null)
        #expect(try FieldPath(parsing: "dnsServers.0").value(in: Fixtures.unknown.document) == .null)
    }

    @Test(
        arguments: [
            ("reson", "there is no field 'reson' (did you mean 'reason'?); allowed: schema, status, reason, "),
            ("reason.cod", "there is no field 'cod' in 'reason' (did you mean 'code'?); allowed: code, message"),
            ("interfaces.0.nme", "there is no field 'nme' in 'interfaces.0' (did you mean 'name'?); allowed: name, "),
            ("status.x", "'status' is a single value"), ("gateways.x", "'gateways' is a list"),
            ("gateways.-1", "'gateways' is a list"), ("gateways.", "'gateways' is a list"),
            ("", "there is no field ''"),
            ("reason..code", "there is no field '' in 'reason'"), ("interfaces.99999999999999999999", "is a list"),
            ("\u{1B}[2J", "there is no field '\\u{1B}[2J'"),
        ]
    )
    func badNames(_ name: String, _ expected: String) {
        #expect { try FieldPath(parsing: name) } throws: { "\($0)".contains(expected) }
    }

    @Test func textIsNotCutButCannotActOnATerminal() {
        let long = String(repeating: "x", count: 5_000)
        #expect(JSONNode.string(long).plainText == long)
        #expect(JSONNode.string("a\u{1B}[2J").plainText == "a\\u{1B}[2J")
    }
}
