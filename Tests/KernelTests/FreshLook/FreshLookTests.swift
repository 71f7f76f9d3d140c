// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// How what a monitor says is compared with what a program says that starts now.
@Suite struct FreshLookTests {
    private func said(_ json: String) throws -> SaidPath { SaidPath(try JSONValue(json: json)) }

    private let tunnel = """
        {"status": "satisfied", "reason": {"code": "routed", "message": "IPv4 through wg0"}, "carriedBy": 2,
        "interfaces": [{"name": "wg0", "index": 3, "reason": {"code": "routed"}},
        {"name": "eth0", "index": 2, "reason": {"code": "carriesTunnel"}}],
        "supportsIPv4": true, "supportsIPv6": false, "isExpensive": false, "isConstrained": false}
        """

    @Test func theSameIsTheSame() throws {
        #expect(try self.said(self.tunnel).difference(from: self.said(self.tunnel)) == nil)
    }

    @Test(
        arguments: [
            ("\"satisfied\"", "\"unsatisfied\"", "status unsatisfied instead of satisfied"),
            ("\"code\": \"routed\", \"m", "\"code\": \"noRoute\", \"m", "reason noRoute instead of routed"),
            ("\"carriedBy\": 2", "\"carriedBy\": null", "carriedBy null instead of eth0"),
            ("\"supportsIPv4\": true", "\"supportsIPv4\": false", "supportsIPv4 false instead of true"),
            ("\"supportsIPv6\": false", "\"supportsIPv6\": true", "supportsIPv6 true instead of false"),
            ("\"isExpensive\": false", "\"isExpensive\": true", "isExpensive true instead of false"),
            ("\"isConstrained\": false", "\"isConstrained\": null", "isConstrained null instead of false"),
            ("\"name\": \"wg0\"", "\"name\": \"wg1\"", "through wg1 instead of wg0"),
        ]
    )
    func whatDiffersIsNamed(_ old: String, _ new: String, _ expected: String) throws {
        let other = try self.said(self.tunnel.replacing(old, with: new))
        let difference = try #require(other.difference(from: try self.said(self.tunnel)))
        #expect(difference.hasPrefix("\(expected) ("), "\(difference)")
    }

    @Test func memoryAllowsADoubtAndNeverTheOpposite() throws {
        let watched = try self.said(#"{"status": "unsatisfied", "reason": {"code": "noInterface", "message": ""}}"#)
        let doubtful = self.tunnel.replacing("wg0\"}", with: "wg0; it is unknown whether anything carries wg0\"}")
        #expect(MonitorMemory.tunnelCarrier.allows(try self.said(doubtful), beside: watched))
        #expect(!MonitorMemory.tunnelCarrier.allows(try self.said(self.tunnel), beside: watched))
        #expect(!MonitorMemory.tunnelCarrier.allows(watched, beside: try self.said(self.tunnel)))
        let silent = self.tunnel.replacing("wg0\"}", with: "wg0; the gateway 192.0.2.1 on wg0 does not answer\"}")
        #expect(!MonitorMemory.tunnelCarrier.allows(try self.said(silent), beside: watched))
    }

    @Test(.needsNamespaces)
    func aLookThatDiffersIsFound() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let program = try WalkEnvironment.program
        func configuration(_ name: String, _ rules: String) throws -> String {
            let path = "\(lab.directory)/\(name).yaml"
            try lab.run("echo 'backends: [{type: netlink}]\(rules)' >\(path)")
            return path
        }
        let plain = try configuration("plain", "")
        let costly = try configuration("costly", "\ninterfaces: [{match: {name: wan0}, expensive: true}]")
        let monitor = try lab.start(program, ["watch", "--json", "--config", plain])
        let line = try monitor.next { $0["status"] == "satisfied" }
        let same = FreshLook(in: lab, of: program, configuration: plain)
        #expect(try same.compare(with: line) { line } == .same)
        let other = FreshLook(in: lab, of: program, configuration: costly)
        let comparison = try other.compare(with: line) { line }
        guard case .differs(let text) = comparison else {
            Issue.record("\(comparison)")
            return
        }
        #expect(text.contains("says isExpensive true instead of false"))
    }
}
