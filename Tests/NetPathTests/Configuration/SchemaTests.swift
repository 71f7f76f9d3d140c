// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathConfiguration
import Testing

/// The schema for editors and the reader say the same of every key, and of good and bad files.
@Suite struct SchemaTests {
    private let schema: SchemaValidator

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Config/netpath.schema.json"
        )
        self.schema = try SchemaValidator(contentsOf: file.path())
    }

    private static let backends = "backends: [{type: netlink}]\n"

    private func isAcceptedByTheReader(_ text: String) -> Bool {
        (try? LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))) != nil
    }

    private func isAcceptedByTheSchema(_ text: String) throws -> Bool {
        try self.schema.accepts(YAMLReader.read(ConfigurationSource(name: "t", text: text)))
    }

    @Test func sameKeys() throws {
        // One backend of every type and one rule, so that the reader asks for everything it knows.
        let required = [
            "tcpProbe": ", targets: [\"a:1\"]", "httpProbe": ", checks: [{url: \"http://a/\", header: {name: x}}]",
            "exec": ", command: [/bin/true]",
        ]
        let types = BackendRegistry.builtIn.all.map { "{type: \($0.type)\(required[$0.type] ?? "")}" }
            .joined(separator: ", ")
        let text = "backends: [\(types)]\ninterfaces: [{match: {name: x}}]\nhooks: [{name: x, command: [/bin/true]}]\n"
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        #expect(configuration.keyPaths == self.schema.keyPaths())
    }

    @Test(
        arguments: [
            LoadedConfiguration.defaultText,
            "{}",
            "# nothing",
            Self.backends,
            "backends: [{type: netlink, mode: \"off\"}, {type: netlink, name: b, receiveBuffer: 2048, sysfs: /s}]",
            "backends: [{type: tcpProbe, targets: [\"203.0.113.7:443\", \"[2001:db8::7]:443\", \"[fe80::1%eth0]:1\"]}]",
            "backends: [{type: tcpProbe, targets: [example.net:65535], interval: 1m, timeout: 1s, stagger: 10ms, "
                + "validFor: 5m, meteredInterval: 30s, backoff: 2s, maxPerMinute: 2, interface: wan0, mark: 4294967295}]",
            "backends: [{type: httpProbe, checks: [{url: \"http://a.example/x\"}]}]",
            "backends: [{type: httpProbe, checks: [{preset: debian}, {url: \"https://a/\", status: 200, body: b, "
                + "header: {name: X-Status, value: online}}], portalAPI: \"https://p/\", interval: 1m, timeout: 1s, "
                + "meteredInterval: 1m, backoff: 30s, maxRoundsPerMinute: 1, interface: wan0}]",
            Self.backends + "merge: {portals: requiresConnection}", Self.backends + "grace: 0",
            "backends: [{type: exec, command: [/usr/bin/ssh, router], environment: [A=b], user: nobody, scope: remote, "
                + "host: router, helloDeadline: 1m, heartbeat: 1s}]",
            Self.backends + "grace: 1.5s\nlogging: {level: debug}", "version: 0.1", "version: \"0.1.0\"",
            Self.backends + "logging: {}\ninterfaces: []",
            Self.backends + "merge: {policy: any, probes: required}\ndamping: {gain: 1s, loss: 0, maxWait: 1h}",
            "backends: [{type: netlink}, {type: netlink, name: b, mode: standby}]", "grace: 1s",
            Self.backends + "referenceDestinations: [9.0.0.1, \"::ffff:192.0.2.1\"]",
            Self.backends
                + "interfaces: [{match: {name: \"w[lw]an*\", kind: wwan, driver: d, mac: 02:1A}, type: wifi}]",
            Self.backends
                + "interfaces: [{match: {kind: veth}, ignore: true, dialOnDemand: false, expensive: true, constrained: true}]",
            Self.backends + "interfaces: [{match: {kind: veth}, expectsAddress: true}]",
            Self.backends
                + "interfaces: [{match: {name: tun0}, tunnelEndpoint: [192.0.2.1, \"2001:db8::1\", \"fe80::1%wan0\"], "
                + "tunnelMark: 4294967295}, {match: {name: tun1}, uplink: true}]",
            Self.backends + "hooks: [{name: a-1_B, command: [/bin/true, -x]}]\nhooksFolder: /etc/netpath/hooks.d",
            Self.backends
                + "hooks: [{name: a, on: any, for: 5s, command: [/bin/true], timeout: 1m, retries: 100, user: nobody}]",
        ]
    )
    func bothAccept(text: String) throws {
        #expect(self.isAcceptedByTheReader(text))
        #expect(try self.isAcceptedByTheSchema(text))
    }

    @Test(
        arguments: [
            "[a]", "backends: []", "backends: {type: netlink}", "backends: [netlink]",
            "backends: [{name: netlink}]", "backends: [{type: netlnk}]", "backends: [{type: netlink, mode: on}]",
            "backends: [{type: netlink, receiveBufer: 4096}]", "backends: [{type: netlink, receiveBuffer: 1}]",
            "backends: [{type: netlink, receiveBuffer: \"4096\"}]", "backends: [{type: netlink, sysfs: [/sys]}]",
            "backends: [{type: tcpProbe}]", "backends: [{type: tcpProbe, targets: []}]",
            "backends: [{type: tcpProbe, targets: \"a:1\"}]", "backends: [{type: tcpProbe, targets: [a]}]",
            "backends: [{type: tcpProbe, targets: [\"2001:db8::7:443\"]}]",
            "backends: [{type: tcpProbe, targets: [\"a:0\"]}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\"], mark: -1}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\"], maxPerMinute: 1}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\"], interface: a/b}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\"], intervall: 1s}]",
            "backends: [{type: httpProbe}]", "backends: [{type: httpProbe, checks: []}]",
            "backends: [{type: httpProbe, checks: [{url: a.example}]}]",
            "backends: [{type: httpProbe, checks: [{url: \"\"}]}]", "backends: [{type: httpProbe, checks: [{}]}]",
            "backends: [{type: httpProbe, checks: [{preset: nobody}]}]",
            "backends: [{type: httpProbe, checks: [{url: \"http://a/\", header: {value: x}}]}]",
            "backends: [{type: httpProbe, checks: [{url: \"http://a/\", status: 302}]}]",
            "backends: [{type: httpProbe, checks: [{url: \"http://a/\"}], portalAPI: \"http://p/\"}]",
            Self.backends + "merge: {portals: unsatisfied}",
            "backends: [{type: exec}]", "backends: [{type: exec, command: []}]",
            "backends: [{type: exec, command: /bin/true}]", "backends: [{type: exec, command: [\"\"]}]",
            "backends: [{type: exec, command: [/bin/true], environment: {A: b}}]",
            "backends: [{type: exec, command: [/bin/true], environment: [=b]}]",
            "backends: [{type: exec, command: [/bin/true], scope: global}]",
            "backends: [{type: exec, command: [/bin/true], shell: true}]",
            Self.backends + "nonsense: 1", Self.backends + "grace: 5 parsecs", Self.backends + "grace: 5",
            Self.backends + "grace:", Self.backends + "logging: debug", Self.backends + "logging: {level: loud}",
            Self.backends + "logging: {lvel: info}", Self.backends + "referenceDestinations: []",
            Self.backends + "referenceDestinations: 9.0.0.1",
            Self.backends + "referenceDestinations: [9.0.0.1, nine]",
            Self.backends + "interfaces: {match: {name: x}}", Self.backends + "interfaces: [{type: wifi}]",
            Self.backends + "interfaces: [{match: {}}]", Self.backends + "interfaces: [{match: {nme: x}}]",
            Self.backends + "interfaces: [{match: {name: \"\"}}]", Self.backends + "interfaces: [{match: {mac: 2:1}}]",
            Self.backends + "interfaces: [{match: {name: x}, type: bus}]",
            Self.backends + "interfaces: [{match: {name: x}, ignore: yes}]",
            Self.backends + "interfaces: [{match: {name: x}, ignored: true}]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelEndpoint: 192.0.2.1}]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelEndpoint: [vpn.example.net]}]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelEndpoint: [\"fe80::1%\"]}]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelMark: 4294967296}]",
            Self.backends + "interfaces: [{match: {name: x}, uplink: maybe}]",
            Self.backends + "merge: any", Self.backends + "merge: {policy: best}",
            Self.backends + "merge: {probe: advisory}",
            Self.backends + "damping: {gain: 1}", Self.backends + "damping: {wait: 1s}",
            Self.backends + "hooks: {name: a, command: [/bin/true]}", Self.backends + "hooks: [{command: [/bin/true]}]",
            Self.backends + "hooks: [{name: a}]", Self.backends + "hooks: [{name: a, command: /bin/true}]",
            Self.backends + "hooks: [{name: a b, command: [/bin/true]}]",
            Self.backends + "hooks: [{name: a, command: [/bin/true], on: path}]",
            Self.backends + "hooks: [{name: a, command: [/bin/true], retries: -1}]",
            Self.backends + "hooks: [{name: a, command: [/bin/true], shell: true}]",
            Self.backends + "hooksFolder: hooks.d",
        ]
    )
    func bothRefuse(text: String) throws {
        #expect(!self.isAcceptedByTheReader(text))
        #expect(try !self.isAcceptedByTheSchema(text))
    }

    /// What no schema says well: the reader knows more, and never less.
    @Test(
        arguments: [
            "backends: [{type: netlink}, {type: netlink}]", "backends: [{type: netlink, mode: \"off\"}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\", \"a:1\"]}]",
            "backends: [{type: tcpProbe, targets: [\"1.2.3:80\"]}]",
            "backends: [{type: tcpProbe, targets: [\"a:65536\"]}]",
            "backends: [{type: tcpProbe, targets: [\"a:1\"], interval: 1ms}]",
            "backends: [{type: exec, command: [./plugin]}]",
            "backends: [{type: exec, command: [/bin/true], host: router}]",
            "backends: [{type: exec, command: [/bin/true], heartbeat: 1ms}]",
            Self.backends + "grace: 2h", Self.backends + "referenceDestinations: [9.0.0.1, 193.0.0.1]",
            Self.backends + "referenceDestinations: [127.0.0.1, \"2600::1\"]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelEndpoint: [\"fe80::1\"]}]",
            Self.backends + "interfaces: [{match: {name: x}, tunnelEndpoint: [0.0.0.0]}]",
            Self.backends + "interfaces: [{match: {name: x}, uplink: true, tunnelMark: 1}]",
            Self.backends + "interfaces: [{match: {name: \"[\"}}]", Self.backends + "damping: {gain: 2s}",
            Self.backends + "hooks: [{name: a, command: [/bin/true]}, {name: a, command: [/bin/true]}]",
            Self.backends + "hooks: [{name: a, command: [./hook]}]",
            Self.backends + "hooks: [{name: a, command: [/bin/true], timeout: 1ms}]",
        ]
    )
    func onlyTheReaderRefuses(text: String) throws {
        #expect(!self.isAcceptedByTheReader(text))
        #expect(try self.isAcceptedByTheSchema(text))
    }

    /// Every configuration that the documentation shows.
    @Test func examplesAreValid() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let documents = root.appending(path: "Sources/NetPath/NetPath.docc")
        let pages = try FileManager.default.contentsOfDirectory(at: documents, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
        var count = 0
        for page in pages + [root.appending(path: "README.md")] {
            let text = try String(contentsOf: page, encoding: .utf8)
            for part in text.components(separatedBy: "```yaml\n").dropFirst() {
                let example = part.components(separatedBy: "\n```")[0]
                count += 1
                #expect(try self.isAcceptedByTheSchema(example), "\(page.lastPathComponent): \(example)")
            }
        }
        #expect(count > 5)
    }
}
