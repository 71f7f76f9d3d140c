// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathExec

/// Plugins that do what they should, as real processes.
struct ExecMonitorTests {
    private func run(
        _ script: String,
        asksOnce: Bool = false,
        _ change: (inout ExecMonitor.Options) -> Void = { _ in }
    ) -> BackendRun {
        var options = ExecMonitor.Options(command: ["/bin/sh", "-c", script])
        change(&options)
        return BackendRun(ExecMonitor(options), asksOnce: asksOnce)
    }

    @Test func aReportArrives() async throws {
        let run = self.run(#"echo '{"netpath":1}'; echo '{"conclusion":{"status":"satisfied"}}'; exec sleep 1000"#)
        #expect(try await run.waitForEvidence().conclusion?.status == .satisfied)
        try await run.stop()
    }

    @Test func whatIsGoneForAWhileIsNoFailure() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; echo '{"unavailable":"the bus is gone"}'; sleep 0.1; echo '{"conclusion":{"status":"satisfied"}}'; exec sleep 1000"#
        )
        #expect(try await run.waitForUnavailability() == "the bus is gone")
        try await run.waitForEvidence()
        try await run.stop()
    }

    @Test func requestsReachThePlugin() async throws {
        let run = self.run(
            #"""
            echo '{"netpath":1,"requests":["refresh","watch"]}'
            while read -r line; do
                printf '{"log":"%s"}\n' "$(echo "$line" | tr -d '"')"
                case $line in *shutdown*) exit ;; esac
            done
            """#
        )
        let greeting = try await run.message { $0.contains("netpath:1") }
        #expect(greeting.contains("once:false"))
        #expect(greeting.contains("referenceDestinations:[9.0.0.1,"))
        run.watch([.fixture("192.0.2.9")])
        _ = try await run.message { $0.contains("{request:watch,addresses:[192.0.2.9]}") }
        run.refresh()
        _ = try await run.message { $0.contains("{request:refresh}") }
        try await run.stop()
    }

    @Test func askedOnceItEndsWithItsFirstWord() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; echo '{"conclusion":{"status":"satisfied"}}'; exec sleep 1000"#,
            asksOnce: true
        )
        try await run.waitForEnd()
        #expect(run.reports.count == 1)
        // One that ends by itself has answered too.
        let brief = self.run(#"echo '{"netpath":1}'; echo '{"conclusion":{"status":"satisfied"}}'"#, asksOnce: true)
        try await brief.waitForEnd()
        #expect(brief.reports.count == 1)
    }

    @Test func theEnvironmentIsSmallAndConfigured() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; echo "{\"log\":\"$(env | cut -d= -f1 | tr '\n' ' ')$COLOUR $(pwd)\"}"; exec sleep 1000"#
        ) { $0.environment = ["COLOUR": "blue", "NETPATH_NOT_SET": nil] }
        let words = try await run.message().split(separator: " ").map(String.init)
        #expect(words.suffix(2) == ["blue", "/"])
        let names = Set(words.dropFirst().dropLast(2))
        #expect(
            names.isSubset(of: [
                "COLOUR", "HOME", "LANG", "LOGNAME", "NETPATH_PLUGIN", "PATH", "PWD", "OLDPWD", "SHLVL", "USER", "_",
            ])
        )
        try await run.stop()
    }

    @Test func itLeadsASessionAndGainsNothing() async throws {
        let run = self.run(
            #"echo '{"netpath":1}'; awk '/NoNewPrivs|SigBlk|SigIgn/ {v=v" "$2} END {print v}' /proc/$$/status | sed "s/.*/{\"log\":\"& $(ulimit -n) $(ulimit -c) $$ $(cut -d' ' -f5,6 /proc/$$/stat)\"}/"; exec sleep 1000"#
        )
        let words = try await run.message().split(separator: " ").dropFirst().map(String.init)
        try #require(words.count == 8)
        #expect(words[0] == "0000000000000000", "blocked signals")
        // Signals 32 and 33 are the C library's own, which nobody else can set (nptl(7)).
        let ignored = try #require(UInt64(words[1], radix: 16)) & ~0x1_8000_0000
        #expect(ignored == 0, "ignored signals")
        #expect(words[2] == "1", "no new privileges")
        #expect(words[3] == "256")
        #expect(words[4] == "0")
        #expect(words[5] == words[6], "process group")
        #expect(words[5] == words[7], "session")
        try await run.stop()
    }

    /// The time from the writing of a line to the merged path, against a report from within the process.
    @Test func aLineBecomesAPathAtOnce() async throws {
        #if DEBUG
        // Reading JSON takes ten times as long without the optimiser.
        let limit: Duration = .milliseconds(3)
        #else
        let limit: Duration = .microseconds(300)
        #endif
        // The best of a few: what else the machine does is not measured.
        var best: Duration?
        for _ in 0..<5 where best.map({ $0 > limit }) ?? true {
            guard let difference = try await self.timeOfALine() else { continue }
            best = min(best ?? difference, difference)
        }
        #expect(try #require(best) <= limit)
    }

    /// How much longer a line takes than a report from within; nil where too few lines came alone.
    private func timeOfALine() async throws -> Duration? {
        let samples = 200
        let clock = SystemMonotonicClock()
        let arrivals = AwaitableState<[String: MonotonicTime]>([:])
        let script = #"""
            use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
            $| = 1; print qq({"netpath":1}\n);
            for my $n (1..200) {
                sleep 0.005;
                printf qq({"conclusion":{"status":"satisfied","reason":"%d"}}\n), clock_gettime(CLOCK_MONOTONIC) * 1e9;
            }
            sleep 0.1; print qq({"conclusion":{"status":"satisfied","reason":"end"}}\n);
            sleep 1000;
            """#
        let plugin = PathCoordinator(backends: [
            Backend("plugin", monitor: ExecMonitor(.init(command: ["/usr/bin/perl", "-e", script])))
        ])
        plugin.subscribe { path in arrivals.update { $0[path.reason.message] = clock.now() } }
        plugin.start()
        try await arrivals.wait { $0["end"] != nil }
        plugin.stop()
        let external = arrivals.value.compactMap { entry in
            Int64(entry.key).map { entry.value - MonotonicTime(nanoseconds: $0) }
        }.sorted()
        // Those that came together with the next one were replaced by it.
        guard external.count > samples / 10 else { return nil }

        let scripted = ScriptedMonitor(.concluding("start"))
        let inside = PathCoordinator(backends: [Backend("inside", monitor: scripted)])
        let paths = AwaitableState<[String: MonotonicTime]>([:])
        inside.subscribe { path in paths.update { $0[path.reason.message] = clock.now() } }
        inside.start()
        try await paths.wait { $0["start"] != nil }
        var within: [Duration] = []
        for number in 0..<samples {
            let before = clock.now()
            scripted.report(.concluding("\(number)"))
            within.append((paths.value["\(number)"] ?? clock.now()) - before)
        }
        inside.stop()
        within.sort()
        print("a line to a path: median \(external[external.count / 2]), from within \(within[samples / 2])")
        return external[external.count / 2] - within[samples / 2]
    }
}

extension BackendRun {
    /// Returns the first thing that it said to the operator and that meets a condition, waiting for it.
    fileprivate func message(where condition: (String) -> Bool = { _ in true }) async throws -> String {
        while true {
            if let message = self.messages.first(where: condition) { return message }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension Evidence {
    fileprivate static func concluding(_ message: String) -> Evidence {
        var evidence = Evidence(at: SystemMonotonicClock().now())
        evidence.conclusion = Conclusion(.satisfied, PathReason(.init(rawValue: "stated"), message))
        return evidence
    }
}
