// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What external plugins cost the program, whatever they do; each test prints its figure.
///
/// As root only: a mapped root may execute nothing of the system's, whose files are nobody's to him.
@Suite(.needsNamespaces, .enabled(if: geteuid() == 0, "plugins of a lab belong to root"), .serialized)
struct ExecBudgets {
    private static let hello = #"echo '{"netpath":1}'; "#
    private static let report = #"echo '{"conclusion":{"status":"unsatisfied"}}'; "#

    /// Plugins that do wrong in ways that could cost memory or time.
    private static let hostile = [
        "exec sleep 1000", "yes", "\(hello) head -c 1000000000 /dev/zero",
        "\(hello) printf '{\"concl'; exec sleep 1000",
        "\(hello) yes '\(#"{"conclusion":{"status":"unsatisfied"}}"#)'", "\(hello) \(report) yes trouble >&2",
        #"\#(hello) yes '{"log":"trouble"}'"#, "\(hello) yes '{}'", #"\#(hello) yes '{"heartbeat":true}'"#,
        "\(hello) \(report) kill -STOP $$", "exit 1", "kill -SEGV $$", "\(hello) \(report) exec >&-; sleep 1000",
        #"printf '\0\0\0\n'"#, #"\#(hello) printf '{"log":"\377"}\n'"#, "head -c 100000 /dev/zero | tr '\\0' '['; echo",
        "\(hello) head -c 250000 /dev/zero | tr '\\0' ' '; sleep 1000",
        "\(hello) printf '{\"a\":['; yes 0, | head -n 16000 | tr -d '\\n'; echo '0],\"heartbeat\":true}'; sleep 1000",
        "\(hello) for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; wait",
        "trap '' TERM; \(hello) \(report) sleep 1000; sleep 1000",
        "\(hello) \(hello)", "echo '{\"netpath\":99}'", "\(hello) echo", "head -c 1000000000 /dev/zero >&2",
        #"\#(hello) while :; do echo '{"unavailable":"a"}'; echo '{"conclusion":{"status":"satisfied"}}'; done"#,
        "\(hello) \(report) setsid sleep 3 & sleep 0.1",
    ]

    private func configuration(_ scripts: [String]) -> String {
        let plugins = scripts.enumerated().map { number, script in
            // YAML reads JSON's text.
            let text = String(decoding: (try? JSONEncoder().encode(script)) ?? Data(), as: UTF8.self)
                .replacingOccurrences(of: "\\/", with: "/")
            return "  - {type: exec, name: plugin\(number), command: [/bin/sh, -c, \(text)]}\n"
        }
        return "backends:\n  - type: netlink\n\(plugins.joined())logging: {level: error}\n"
    }

    private func watch(_ scripts: [String]) throws -> MonitorProcess {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let path = try Watched.write(self.configuration(scripts), in: lab)
        return try lab.start(Watched.program, ["watch", "--json", "--config", path])
    }

    @Test func tenIdlePluginsWakeNobody() throws {
        let idle = [String](repeating: "\(Self.hello) \(Self.report) exec sleep 1000", count: 10)
        let monitor = try self.watch(idle)
        try monitor.next { line in line["backends"]?.elements.allSatisfy { $0["health"] == "healthy" } == true }
        let switches = try monitor.contextSwitches(in: .seconds(10))
        print("10 idle plugins for 10 s: \(switches) context switches")
        #expect(switches == 0)
    }

    @Test func hostilePluginsCostLittleMemoryAndNoTruth() throws {
        #expect(Self.hostile.count >= 25)
        let alone = try self.watch([])
        try alone.next { $0["status"] == "satisfied" }
        try alone.namespace.run("sleep 3")
        let base = try alone.residentPeakKiB()
        let monitor = try self.watch(Self.hostile)
        try monitor.next { $0["status"] == "satisfied" }
        try monitor.namespace.run("sleep 12")
        let lines = try monitor.drain()
        #expect(lines.allSatisfy { $0["status"] == "satisfied" && $0["stale"] == false })
        let peak = try monitor.residentPeakKiB()
        print("\(Self.hostile.count) hostile plugins: \(peak - base) KiB more than \(base) KiB, \(lines.count) paths")
        #expect(peak - base <= 8 * 1024)
    }
}
