// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// `netpath compare` with the backends of the program against the real kernel.
@Suite(.needsNamespaces)
struct CompareTests {
    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private static let both = "backends: [{type: netlink}, {type: sysfs, mode: standby}]\n"

    private func run(_ arguments: String, configuration: String = both) throws -> (output: String, status: String) {
        let path = try Watched.write(configuration, in: self.lab)
        let text = try self.lab.run("\(try Watched.program) compare --config \(path) \(arguments) 2>&1; echo \"= $?\"")
        let parts = text.split(separator: "= ")
        return (parts.dropLast().joined(separator: "= "), String(parts.last ?? "").filter(\.isNumber))
    }

    @Test func backendsOnStandbyAreComparedToo() throws {
        let (output, status) = try self.run("")
        #expect(output.hasPrefix("AGREED  satisfied, IPv4 through wan0 (2 backends)"))
        #expect(output.contains("  Interfaces    wan0"))
        #expect(status == "0")
    }

    @Test func policyRuleIsWhatSysfsCannotSee() throws {
        try self.lab.ip("route del default")
        try self.lab.ip("route add default via 192.0.2.1 table 100")
        try self.lab.ip("rule add from all lookup 100 pref 100")
        let (output, status) = try self.run("")
        #expect(output.hasPrefix("DIFFERENT  satisfied: netlink; unsatisfied: sysfs"))
        #expect(output.contains("! unsatisfied"))
        #expect(output.contains("sysfs sees only the main routing table"))
        #expect(status == "1")
    }

    @Test func summaryCountsWhatEachSaw() throws {
        let path = try Watched.write(Self.both, in: self.lab)
        let monitor = try self.lab.start(Watched.program, ["compare", "--json", "--for", "10m", "--config", path])
        // Both of them: one that has no verdict yet agrees with everybody, and notices nothing.
        func bothSay(_ status: String) throws {
            try monitor.next { line in
                let backends = line["backends"]?.elements ?? []
                return backends.count == 2 && backends.allSatisfy { $0["status"]?.string == status }
            }
        }
        try bothSay("satisfied")
        try self.lab.ip("route del default")
        try bothSay("unsatisfied")
        try self.lab.ip("route add default via 192.0.2.1")
        try bothSay("satisfied")
        // Ctrl-C ends with what was counted so far.
        monitor.sendSignal(.interrupt)
        let summary = try monitor.next { $0["summary"] != nil }
        #expect(summary["changes"]?.number == 2)
        let entries = try #require(summary["summary"]?.elements)
        #expect(entries.map { $0["backend"]?.string }.sorted { $0 ?? "" < $1 ?? "" } == ["netlink", "sysfs"])
        for entry in entries {
            #expect(entry["seen"]?.number == 2)
            #expect(entry["missed"]?.number == 0)
            #expect(entry["falseTransitions"]?.number == 0)
            #expect(try #require(entry["medianDelayMicroseconds"]?.number) < 1_000_000)
        }
        #expect(try monitor.waitForEnd() == 0)
    }
}
