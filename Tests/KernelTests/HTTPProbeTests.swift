// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The probe over HTTP as `netpath` runs it: the program becomes another one, on a network of its own.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct HTTPProbeTests {
    private static let server = "198.51.100.7"

    /// A machine with an uplink, and behind its gateway a server that answers as the path of an address says.
    private func world() throws -> (lab: NetworkNamespace, server: MonitorProcess) {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.runOnFarSide(
            "ip address add 192.0.2.1/24 dev \(wan.peerName ?? "") && ip address add \(Self.server)/32 dev lo"
        )
        let server = try lab.start(
            "nsenter",
            [
                "--net=\(try lab.farSidePath())", try MonitorProcess.builtProduct("LabPeers"),
                "serve", "--port", "80", "0.0.0.0",
            ]
        )
        try server.next { $0["port"] != nil }
        return (lab, server)
    }

    private func configuration(_ path: String, _ options: String = "", merge: String = "{}") -> String {
        """
        backends: [{type: netlink},
          {type: httpProbe, checks: [{url: "http://\(Self.server)\(path)"}], timeout: 20s\(options)}]
        merge: \(merge)
        """
    }

    /// What one run of `netpath status` says.
    private func status(in lab: NetworkNamespace, _ configuration: String) throws -> JSONValue {
        let path = try Watched.write(configuration, in: lab)
        let command = try "\(Watched.program) status --probe --timeout 40s --json --config \(path)"
        return try JSONValue(json: lab.run("\(command) || test $? -le 2"))
    }

    @Test(arguments: ["", ", interface: wan0"])
    func theInternet(options: String) throws {
        let (lab, server) = try self.world()
        defer { withExtendedLifetime(server) {} }
        let line = try self.status(in: lab, self.configuration("/status/204", options))
        #expect(line["status"] == "satisfied")
        #expect(line["internet"] == "reachable")
        #expect(line["probes"]?[0]?["outcome"] == "expected")
        #expect(line["probes"]?[0]?["target"]?.string == "http://\(Self.server)/status/204")
    }

    @Test(arguments: [
        ("{}", "satisfied", "routed"), ("{probes: required}", "unsatisfied", "probeFailed"),
        ("{portals: requiresConnection}", "requiresConnection", "captivePortal"),
    ])
    func thePolicyDecidesOnAPortal(merge: String, status: String, reason: String) throws {
        let (lab, server) = try self.world()
        defer { withExtendedLifetime(server) {} }
        let path = "/status/302?location=http://portal.example/"
        let line = try self.status(in: lab, self.configuration(path, merge: merge))
        #expect(line["internet"] == "portal")
        #expect(line["status"]?.string == status)
        #expect(line["reason"]?["code"]?.string == reason)
    }

    @Test func aServerThatIsGoneIsSeenAfterAChange() throws {
        let (lab, server) = try self.world()
        let watched = try Watched(lab, configuration: self.configuration("/status/204"))
        try watched.monitor.next { $0["internet"] == "reachable" }
        try server.stop()
        try lab.run("ip address add 192.0.2.9/24 dev wan0")
        try watched.monitor.next { $0["internet"] == "unreachable" }
    }

    @Test func aConfigurationIsCheckedWithoutTheOtherProgram() throws {
        let lab = try NetworkNamespace()
        let path = try Watched.write(self.configuration("/"), in: lab)
        // A copy has nothing beside it.
        try lab.run("cp \(Watched.program) \(lab.directory)/netpath")
        let program = "PATH=/usr/bin:/bin \(lab.directory)/netpath"
        #expect(try lab.run("\(program) config check \(path)").contains(": ok\n"))
        let refusal = try lab.run("\(program) status --probe --config \(path) 2>&1 || true")
        #expect(refusal.contains("takes the program netpath-http, which is missing or cannot be executed"))
    }
}
