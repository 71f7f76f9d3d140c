// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What becomes of plugins when `netpath run` ends.
@Suite(.needsNamespaces)
struct ServiceEndTests {
    private let lab: NetworkNamespace
    private let mark = "netpath-\(UUID().uuidString)"
    private var file: String { "\(self.lab.directory)/said" }

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    /// Starts a service with a plugin that leaves a daemon, and writes what it is told to a file.
    private func start() throws -> MonitorProcess {
        try self.lab.run(
            """
            cat >\(self.lab.directory)/plugin.sh <<'SCRIPT'
            echo '{"netpath":1,"requests":["refresh"]}'
            echo '{"conclusion":{"status":"satisfied"}}'
            setsid sh -c ': \(self.mark); trap "" TERM; while :; do sleep 1000; done' &
            trap 'sleep 0.05; echo SIGTERM >>\(self.file); exit 0' TERM
            echo ready >>\(self.file)
            while read -r line; do
                case $line in
                *refresh*) echo '{"heartbeat":true}' ;;
                *shutdown*) echo shutdown >>\(self.file) ;;
                esac
            done
            while :; do sleep 0.01; done
            SCRIPT
            cat >\(self.lab.directory)/netpath.yaml <<'YAML'
            backends:
              - type: netlink
              - {type: exec, name: mine, command: [/bin/sh, -c, '. \(self.lab.directory)/plugin.sh']}
            YAML
            """
        )
        let folder = "\(self.lab.directory)/service"
        let service = try self.lab.start(
            Watched.program,
            ["run", "--config", "\(self.lab.directory)/netpath.yaml"],
            environment: ["RUNTIME_DIRECTORY": folder, "STATE_DIRECTORY": folder]
        )
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? String(contentsOfFile: self.file, encoding: .utf8)) != "ready\n" {
            try #require(service.isRunning && ContinuousClock.now < deadline, "\(service.standardError)")
            usleep(5_000)
        }
        return service
    }

    private var daemons: Int {
        get throws { Int(try self.lab.run("pgrep -fc '[:] \(self.mark)' || true").filter(\.isNumber)) ?? 0 }
    }

    /// It is asked, told, and waited for; the daemon that ignores SIGTERM is ended all the same.
    @Test func pluginsEndAsDocumented() throws {
        let expected = "ready\nshutdown\nSIGTERM\n"
        var said = ""
        // A busy machine may keep the plugin from its word for as long as it is waited for.
        for _ in 0..<3 where said != expected {
            try? FileManager.default.removeItem(atPath: self.file)
            let service = try self.start()
            let deadline = ContinuousClock.now + .seconds(60)
            while try self.daemons == 0 {
                try #require(ContinuousClock.now < deadline, "there is no daemon")
                usleep(5_000)
            }
            #expect(try service.stop() == 0)
            said = try String(contentsOfFile: self.file, encoding: .utf8)
            #expect(try self.daemons == 0)
        }
        #expect(said == expected)
    }

    @Test func nothingOutlivesAServiceThatIsKilled() throws {
        let service = try self.start()
        try service.stop(signal: .kill)
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.daemons > 0 {
            try #require(ContinuousClock.now < deadline, "the daemon is still there")
            usleep(5_000)
        }
    }
}
