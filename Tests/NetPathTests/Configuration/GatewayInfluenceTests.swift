// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

/// What the configuration says of gateways that do not answer, and of probes.
@Suite struct GatewayInfluenceTests {
    private static let probe = "{type: tcpProbe, targets: [\"192.0.2.1:1\"]"

    private func load(_ text: String) throws -> LoadedConfiguration {
        try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
    }

    @Test func required() throws {
        #expect(try self.load("backends: [{type: netlink}]").settings.evaluation.gateways == .advisory)
        let probe = "\(Self.probe)}"
        let probed = try self.load("backends: [{type: netlink}, \(probe)]\nmerge: {gateways: required}")
        #expect(probed.settings.evaluation.gateways == .required)
        #expect(probed.warnings.isEmpty)
        for backends in ["{type: netlink}", "{type: netlink}, \(Self.probe), mode: off}"] {
            let warnings = try self.load("backends: [\(backends)]\nmerge: {gateways: required}").warnings
            #expect(warnings.count == 1)
            #expect(warnings.first?.description.hasPrefix("t:2:19: warning: 'merge.gateways' notices") == true)
        }
    }

    /// Only what could probe is taken for a probe: a program of the user may do so, too.
    @Test(arguments: [
        ("{type: netlink}, {type: sysfs}", true), ("{type: netlink}, \(Self.probe), mode: off}", true),
        ("{type: netlink}, \(Self.probe)}", false), ("{type: netlink}, {type: exec, command: [/bin/true]}", false),
    ])
    func requiredProbesNeedAProbe(backends: String, isWarned: Bool) throws {
        let warnings = try self.load("backends: [\(backends)]\nmerge: {probes: required}").warnings.map(\.description)
        #expect(warnings.contains { $0.hasPrefix("t:2:17: warning: 'merge.probes' changes nothing") } == isWarned)
    }
}
