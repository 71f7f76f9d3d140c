// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathConfiguration

/// The keys beside `backends`: read, refused, and handed on.
@Suite struct SettingsTests {
    private func read(_ text: String, registry: BackendRegistry = .builtIn) throws -> LoadedConfiguration {
        let source = ConfigurationSource(name: "t", text: "backends: [{type: netlink}]\n" + text)
        return try LoadedConfiguration.parse(source, registry: registry)
    }

    private func complaints(_ text: String) -> [String] {
        let error = #expect(throws: ConfigurationError.self) { try self.read(text) }
        return error?.diagnostics.map { String($0.description.prefix { $0 != "\n" }) } ?? []
    }

    @Test func defaults() throws {
        let configuration = try self.read("")
        #expect(configuration.evaluation == EvaluationPolicy())
        #expect(configuration.logLevel == .warning)
        let embedded = ConfigurationSource(name: "embedded default", text: LoadedConfiguration.defaultText)
        let shipped = try LoadedConfiguration.parse(embedded)
        #expect(shipped.evaluation == EvaluationPolicy())
        // The text explains the defaults, so it has to name the very ones that hold without it.
        let short = ConfigurationSource(name: "t", text: "backends: [{type: netlink}, {type: sysfs, mode: standby}]\n")
        let values = try LoadedConfiguration.parse(short).effective.values
        #expect(shipped.effective.values == values.map(Self.asDefault))
    }

    private static func asDefault(_ value: EffectiveConfiguration.Value) -> EffectiveConfiguration.Value {
        EffectiveConfiguration.Value(path: value.path, text: value.text, origin: .init(name: "default", line: nil))
    }

    @Test func whoSpeaksOfTheInternet() throws {
        #expect(try !self.read("").speaksOfInternet)
        func parse(_ entry: String) throws -> LoadedConfiguration {
            let text = "backends: [{type: netlink}, {type: sysfs}, \(entry)]\n"
            return try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        }
        #expect(try parse("{type: tcpProbe, targets: [\"192.0.2.1:80\"]}").speaksOfInternet)
        #expect(try parse("{type: exec, command: [/bin/true]}").speaksOfInternet)
        #expect(try !parse("{type: tcpProbe, targets: [\"192.0.2.1:80\"], mode: off}").speaksOfInternet)
    }

    @Test func graceAndLogging() throws {
        let configuration = try self.read("grace: 500ms\nlogging: {level: debug}")
        #expect(configuration.evaluation.configurationGrace == .milliseconds(500))
        #expect(configuration.logLevel == .debug)
    }

    @Test func interfaceRules() throws {
        let rules = try self.read(
            """
            interfaces:
              - match: {name: "w[lw]an*", kind: wwan, driver: cdc_mbim, mac: 02-1A:7f}
                type: cellular
                expensive: false
                constrained: true
              - match: {kind: veth}
                ignore: true
              - match: {name: ppp0}
                dialOnDemand: true
              - match: {kind: bridge}
                expectsAddress: true
            """
        ).evaluation.interfaceRules
        var modem = InterfaceRule(
            .init(
                name: GlobPattern("w[lw]an*"),
                kind: "wwan",
                driver: "cdc_mbim",
                hardwareAddressPrefix: [2, 0x1A, 0x7F]
            )
        )
        (modem.type, modem.isExpensive, modem.isConstrained) = (.cellular, false, true)
        var containers = InterfaceRule(.init(kind: "veth"))
        containers.isIgnored = true
        var dialled = InterfaceRule(.init(name: GlobPattern("ppp0")))
        dialled.dialsOnDemand = true
        var lan = InterfaceRule(.init(kind: "bridge"))
        lan.expectsAddress = true
        #expect(rules == [modem, containers, dialled, lan])
    }

    @Test func rulesAboutTunnels() throws {
        let rules = try self.read(
            """
            interfaces:
              - match: {name: tun0}
                tunnelEndpoint: [203.0.113.7, "2001:db8::7", "fe80::1%wan0"]
                tunnelMark: 51820
              - match: {name: tun1}
                uplink: true
            """
        ).evaluation.interfaceRules
        #expect(
            rules.first?.tunnelEndpoints == [
                TunnelEndpoint(InternetAddress(ipv4: 0xCB00_7107)),
                TunnelEndpoint(InternetAddress(ipv6: 0x2001_0DB8 << 96 | 7)),
                TunnelEndpoint(InternetAddress(ipv6: 0xFE80 << 112 | 1), zone: "wan0"),
            ]
        )
        #expect(rules.first?.tunnelMark == 51_820)
        #expect(rules.map(\.isUplink) == [nil, true])
        #expect(
            self.complaints("interfaces: [{match: {name: x}, uplink: true, tunnelEndpoint: [\"fe80::1\"]}]") == [
                "t:2:63: error: 'interfaces[0].tunnelEndpoint' is for tunnels, and cannot stand beside `uplink: true`, "
                    + "found a list",
                "t:2:64: error: 'interfaces[0].tunnelEndpoint[0]' is valid on one link only; name its interface, as in "
                    + "fe80::1%wan0, found the text \"fe80::1\"",
            ]
        )
    }

    @Test func aRuleThatSaysNothingIsDoubtful() throws {
        let warnings = try self.read("interfaces: [{match: {name: x}}, {match: {name: y}, ignore: false}]").warnings
        #expect(warnings.count == 1)
        let warning = "t:2:22: warning: 'interfaces[0].match' selects interfaces"
        #expect(warnings.first?.description.hasPrefix(warning) == true)
    }

    @Test func everyRefusalPointsAtItsValue() {
        #expect(
            self.complaints(
                """
                interfaces:
                  - match: {}
                  - type: wifi
                  - match: {name: "a[", mac: 2:1}
                    ignore: yes
                grace: 2h
                """
            ) == [
                "t:3:12: error: 'interfaces[0].match' must have a key that says which interfaces are meant, found a mapping; "
                    + "allowed: name, kind, driver, mac",
                "t:4:5: error: 'interfaces[1].match' is missing",
                "t:5:19: error: 'interfaces[2].match.name' must be a pattern such as wwan*, eth? or w[lw]an[0-9], "
                    + "found the text \"a[\"",
                "t:5:30: error: 'interfaces[2].match.mac' must be a hardware address or its beginning such as 02:1a:7f, "
                    + "found '2:1'",
                "t:6:13: error: 'interfaces[2].ignore' must be true or false, found 'yes'",
                "t:7:8: error: 'grace' must be a duration from 0s to 1h, found '2h'",
            ]
        )
    }

    @Test(arguments: ["backends: netlink", "backends: [netlink]", "interfaces: [{match: wan0, type: wifi}]"])
    func oneMistakeIsOneError(_ text: String) {
        let source = ConfigurationSource(name: "t", text: text)
        let error = #expect(throws: ConfigurationError.self) { try LoadedConfiguration.parse(source) }
        #expect(error?.diagnostics.count == 1, "\(error.debugDescription)")
    }

    @Test(arguments: [
        (
            "[127.0.0.1, 9.0.0.1, \"2600::1\"]",
            "[0]' must be an address on the internet; this one is this machine itself"
        ),
        ("[9.0.0.1, \"fe80::1\"]", "[1]' must be an address on the internet; this one is on the link only"),
        ("[0.0.0.0, \"2600::1\"]", "[0]' must be an address on the internet; this one is no address at all"),
        ("[9.0.0.1]", "' must hold at least one address of each family; there is none of IPv6"),
        ("[\"2600::1\"]", "' must hold at least one address of each family; there is none of IPv4"),
        ("[9.0.0.1/8, \"2600::1\"]", "[0]' must be an IP address such as 9.0.0.1 or 2600::1"),
    ])
    func refusesReferenceDestinations(list: String, complaint: String) throws {
        let complaints = self.complaints("referenceDestinations: \(list)")
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("'referenceDestinations\(complaint)") == true)
    }

    @Test func readsMergeAndDamping() throws {
        let text = """
            merge: {policy: majority, probes: required}
            damping: {gain: 2s, loss: 500ms, maxWait: 3s}
            """
        let settings = try self.read(text).settings
        #expect(settings.merge == .majority)
        #expect(settings.probes == .required)
        #expect(settings.damping == Damping(gain: .seconds(2), loss: .milliseconds(500), maxWait: .seconds(3)))
        #expect(try self.read("").settings == CoordinatorSettings())
    }

    @Test(arguments: [
        ("damping: {gain: 2s}", "t:2:17: error: 'damping.gain' must not be longer than maxWait"),
        ("damping: {loss: 2s}", "t:2:17: error: 'damping.loss' must not be longer than maxWait, which is 1s"),
        ("damping: {loss: 2s, maxWait: 1999ms}", "t:2:30: error: 'damping.maxWait' must be 2s or more"),
        ("damping: {maxWait: 2h}", "t:2:20: error: 'damping.maxWait' must be a duration from 0s to 1h"),
        ("merge: {policy: first}", "t:2:17: error: 'merge.policy' must be one of the allowed words"),
        ("merge: {probes: yes}", "t:2:17: error: 'merge.probes' must be one of the allowed words"),
    ])
    func refusesMergeAndDamping(text: String, complaint: String) {
        let complaints = self.complaints(text)
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix(complaint) == true, "\(complaints)")
    }

    @Test func everyBackendGetsTheReferenceDestinations() throws {
        struct Asking: PathMonitor {
            let referenceDestinations: [InternetAddress]

            func run(_ context: MonitorContext) async throws {}
        }
        var registry = BackendRegistry()
        registry.register("netlink", summary: "") { Asking(referenceDestinations: $0.referenceDestinations) }
        func asked(_ text: String) throws -> [InternetAddress]? {
            (try self.read(text, registry: registry).backends.first?.monitor as? Asking)?.referenceDestinations
        }
        let addresses = ["198.18.0.1", "2001:db8::1"].compactMap { InternetAddress($0) }
        #expect(try asked("referenceDestinations: [198.18.0.1, \"2001:db8::1\"]") == addresses)
        #expect(try asked("") == ReferenceRoute.defaultDestinations)
        #expect(try asked("representatives: [198.18.0.1, \"2001:db8::1\"]") == addresses, "the name it had before")
    }

    @Test func theFormerNameOfReferenceDestinationsIsWarnedOf() throws {
        let list = "[198.18.0.1, \"2001:db8::1\"]"
        let warnings = try self.read("representatives: \(list)").warnings.map(\.message)
        #expect(warnings.contains { $0.contains("is called 'referenceDestinations' now") }, "\(warnings)")
        let both = self.complaints("representatives: \(list)\nreferenceDestinations: \(list)")
        #expect(both.count == 1 && both.first?.contains("leave one of them out") == true, "\(both)")
    }
}
