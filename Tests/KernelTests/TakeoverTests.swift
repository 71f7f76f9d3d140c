// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Who stands in for whom, with the shipped program, its plugins and the real kernel.
@Suite(.needsNamespaces)
struct TakeoverTests {
    /// A plugin above netlink takes its word back, or ends: netlink decides, and a fresh look says the same.
    ///
    /// As root only: a mapped root may execute nothing of the system's.
    @Test(
        .enabled(if: geteuid() == 0, "plugins of a lab belong to root"),
        arguments: [#"echo '{"unavailable":"gone"}'; exec sleep 1000"#, "exit 1"]
    )
    func aWithdrawnWordCountsNoMore(fault: String) throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        let flag = "\(lab.directory)/fault"
        let script = """
            echo '{"netpath":1}'; if [ ! -e \(flag) ]; then echo '{"conclusion":{"status":"satisfied"}}'
            while [ ! -e \(flag) ]; do sleep 0.05; done; fi
            \(fault)
            """
        let text = String(decoding: try JSONEncoder().encode(script), as: UTF8.self)
            .replacingOccurrences(of: "\\/", with: "/")
        let configuration =
            "backends:\n  - {type: exec, name: plugin, command: [/bin/sh, -c, \(text)]}\n  - type: netlink\n"
        let watched = try Watched(lab, configuration: configuration)
        try watched.expect("satisfied", "stated")
        let line = try watched.expect("unsatisfied", "noRoute") { try lab.run("touch \(flag)") }
        #expect(line["stale"] == false)
        let path = try Watched.write(configuration, in: lab)
        let ask = "--probe --json --config \(path) || test $? -eq 1"
        let fresh = try JSONValue(json: lab.run("\(Watched.program) status \(ask)"))
        #expect(fresh["status"] == line["status"] && fresh["reason"]?["code"]?.string == line.reason)
        let explained = try JSONValue(json: lab.run("\(Watched.program) explain \(ask)"))
        let rule = explained["rule"]?.string ?? ""
        #expect(rule.hasPrefix("Takeover: netlink decides, because plugin, which is above it, is"), "\(rule)")
    }

    /// A plugin that starves is stopped where it stands (SIGSTOP): what netlink knows is published within a second after
    /// that is known, by its silence or by a question that it leaves open.
    ///
    /// As root only: a mapped root may execute nothing of the system's.
    @Test(
        .enabled(if: geteuid() == 0, "plugins of a lab belong to root"),
        arguments: [
            (hello: #""heartbeat":1"#, mode: "active"), (hello: #""heartbeat":1"#, mode: "standby"),
            (hello: #""requests":["refresh"]"#, mode: "active"),
        ]
    )
    func aStarvedWordCountsNoMore(hello: String, mode: String) throws {
        var delays: [TimeInterval] = []
        // What else the machine does only adds to it.
        repeat {
            delays.append(try self.delayOfAStarvedWord(hello: hello, mode: mode))
        } while delays.count < 3 && delays.min() ?? 0 >= 1
        #expect(delays.min() ?? 9 < 1, "\(delays) s")
    }

    /// How long after it is known that a plugin starves what netlink knows is published.
    private func delayOfAStarvedWord(hello: String, mode: String) throws -> TimeInterval {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let file = "\(lab.directory)/plugin"
        // Once it has starved it does not start again.
        let script = """
            [ ! -e \(file).gone ] || exit 1; echo $$ >\(file); echo '{"netpath":1,\(hello)}'
            say() { echo '{"conclusion":{"status":"satisfied"}}'; }; say
            case '\(hello)' in *heartbeat*) while sleep 0.2; do say; done ;; esac
            while read -r line; do case $line in *refresh*) say ;; *shutdown*) exit 0 ;; esac; done
            """
        let text = String(decoding: try JSONEncoder().encode(script), as: UTF8.self)
            .replacingOccurrences(of: "\\/", with: "/")
        let configuration =
            "backends:\n  - {type: exec, name: plugin, command: [/bin/sh, -c, \(text)]}\n"
            + "  - {type: netlink, mode: \(mode)}\n"
        let watched = try Watched(lab, configuration: configuration)
        try watched.expect("satisfied", "stated")
        try lab.run("touch \(file).gone")
        // Only now: it may have been started again until then.
        let number = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(kill(try #require(Int32(number)), SIGSTOP) == 0)
        try wan.setPeerCarrier(false)
        var known: Date?
        let line = try watched.monitor.next { line in
            let plugin = line["backends"]?.elements.first { $0["name"] == "plugin" }
            if plugin?["health"] == "unhealthy" { known = known ?? line.date }
            return line["status"] == "unsatisfied" && line.reason == "noCarrier"
        }
        #expect(line["stale"] == false)
        let delay = try #require(line.date).timeIntervalSince(#require(known))
        let path = try Watched.write(configuration, in: lab)
        let ask = "--probe --json --config \(path) || test $? -eq 1"
        let fresh = try JSONValue(json: lab.run("\(Watched.program) status \(ask)"))
        #expect(fresh["status"] == line["status"] && fresh["reason"]?["code"]?.string == line.reason)
        return delay
    }

    /// A probe sees no cable, so that a standby that does runs beside it.
    @Test func aCableThatIsPulledIsSeenBesideAProbe() throws {
        let lab = try NetworkNamespace()
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try lab.runOnFarSide("ip address add 192.0.2.1/24 dev \(wan.peerName ?? "")")
        let probe = "{type: tcpProbe, targets: [\"192.0.2.1:80\"]}"
        let watched = try Watched(lab, configuration: "backends: [\(probe), {type: netlink, mode: standby}]")
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        try watched.expect("satisfied", "routed") { try wan.setPeerCarrier(true) }
    }
}

extension JSONLine {
    /// When the path was published.
    fileprivate var date: Date? {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return self["time"]?.string.flatMap { try? Date($0, strategy: format) }
    }
}
