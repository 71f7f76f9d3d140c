// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathConfiguration
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// Commands that are really run.
@Suite(.timeLimit(.minutes(5))) struct HookRunnerTests {
    /// A runner whose loop is turned, with what it logs.
    fileprivate final class Stage: Sendable {
        let loop: EventLoop
        let runner: HookRunner
        let messages = AwaitableState<[String]>([])
        let folder: TemporaryDirectory

        init(_ hooks: [Hook], _ environment: [String: String] = [:]) throws {
            self.folder = try TemporaryDirectory()
            self.loop = try EventLoop()
            let environment = processEnvironment().merging(environment) { $1 }
            self.runner = try HookRunner(hooks, loop: self.loop, environment: environment) { [messages] in
                let line = "\($0.rawValue): \($1)"
                messages.update { $0.append(line) }
            }
            guard BackgroundThread.start({ [loop] in while !loop.reasons().contains(.stop) {} })
            else { throw SystemError.last("cannot start a thread") }
        }

        deinit {
            self.runner.stop(within: .zero)
            self.loop.wakeUp.wake(.stop)
        }

        func message(_ text: String, count: Int = 1) async throws {
            try await self.messages.wait { $0.count { $0.contains(text) } >= count }
        }
    }

    /// A command in the language of the shell, as if somebody had typed it.
    fileprivate func hook(_ script: String, _ change: (inout Hook) -> Void = { _ in }) -> Hook {
        var hook = Hook(name: "test", command: ["/bin/sh", "-c", script])
        hook.isTyped = true
        // What runs too long is ended where that is what is tested, and not because everything is slow.
        hook.timeout = .seconds(600)
        change(&hook)
        return hook
    }

    fileprivate static let up = StatusSnapshot.stating(.satisfied)
    fileprivate static let down = StatusSnapshot.stating(.unsatisfied, because: "the cable\nis \0out")

    @Test func itReadsThePathAndFindsItInItsEnvironment() async throws {
        let stage = try Stage([
            self.hook(
                #"cat; echo "$NETPATH_HOOK $NETPATH_INITIAL $NETPATH_STATUS/$NETPATH_PREVIOUS_STATUS"#
                    + #" $NETPATH_INTERFACE/$NETPATH_PREVIOUS_INTERFACE $NETPATH_REASON $NETPATH_MESSAGE"; cat"#
            )
        ])
        stage.runner.show(Self.up)
        try await stage.message("info: --test: satisfied (initial): ended with exit status 0")
        stage.runner.show(Self.down)
        try await stage.message("satisfied → unsatisfied: ended with exit status 0")
        let messages = stage.messages.value
        #expect(messages.contains { $0.hasSuffix(": test 1 satisfied/ eth0/ routed ") })
        // Nothing in it could end a line, or a value.
        #expect(
            messages.contains { $0.hasSuffix(#": test  unsatisfied/satisfied /eth0 routed the cable\u{A}is \u{0}out"#) }
        )
        #expect(messages.contains("info: --test: \(Self.up.document.line.prefix(500))"))
        #expect(stage.runner.reports.map(\.runCount) == [2])
        #expect(stage.runner.reports[0].runs.map(\.outcome) == [.ended(.exited(0)), .ended(.exited(0))])
    }

    /// A script of NetworkManager's finds its arguments and variables as there.
    @Test func aDispatcherScript() async throws {
        let script = self.hook(
            #"echo "<$1> <$2> $NM_DISPATCHER_ACTION ${DEVICE_IFACE-none} ${CONNECTIVITY_STATE-none} $IP4_ADDRESS_0,"#
                + #"${IP4_GATEWAY-none},${IP6_NUM_ADDRESSES-none},$IP4_NAMESERVERS""#
        ) {
            $0.command.append("script")
            $0.trigger = .dispatcher
        }
        let stage = try Stage([script])
        var path = NetworkPath(.satisfied, PathReason(.routed, "routed"), interfaces: [])
        var interface = PathInterface(index: 2, name: "eth0", type: .wired, reason: PathReason(.routed, ""))
        interface.addresses = [AddressPrefix(InternetAddress(ipv4: 0xC000_0202), length: 24)]
        interface.gateways = [InternetAddress(ipv4: 0xC000_0201)]
        path.interfaces = [interface]
        path.dnsServers = [0xC000_0235, 0xC000_0236].map { DNSServer(InternetAddress(ipv4: $0)) }
        func show(_ change: (inout NetworkPath) -> Void) {
            change(&path)
            stage.runner.show(StatusSnapshot(path: path, backends: [], takenAt: .now()))
        }
        func said(_ text: String) async throws { try await stage.message("info: --test: \(text)") }
        show { _ in }
        try await said("<eth0> <up> up eth0 none 192.0.2.2/24 192.0.2.1,192.0.2.1,0,192.0.2.53 192.0.2.54")
        try await said("<> <connectivity-change> connectivity-change none UNKNOWN ,none,none,")
        try await said("satisfied (initial): ended with exit status 0")
        show { $0.internet = .portal }
        try await said("<> <connectivity-change> connectivity-change none PORTAL")
        show { $0.interfaces[0].name = "wlan0" }
        try await said("<eth0> <down> down eth0 none ,none,none,")
        try await said("<wlan0> <up> up wlan0")
        show { $0.status = .unsatisfied }
        try await said("<wlan0> <down> down wlan0")
        try await said("<> <connectivity-change> connectivity-change none NONE")
        #expect(stage.messages.value.count { $0.contains("> <") } == 7)
        #expect(stage.runner.reports[0].failureCount == 0)
    }

    @Test func aHookOfTheConfigurationGetsLittle() async throws {
        _ = unsafe setenv("NETPATH_TEST_SECRET", "secret", 1)
        let command = [
            "/bin/sh", "-c",
            "pwd; env; ps -o sid= -p $$ | grep -qw $$ && echo leads a session; "
                + "grep NoNewPrivs: /proc/self/status",
        ]
        let stage = try Stage([Hook(name: "plain", command: command)])
        stage.runner.show(Self.up)
        try await stage.message("exit status 0")
        let messages = stage.messages.value
        #expect(messages.contains { $0.hasSuffix(": /") })
        #expect(
            messages.contains { $0.hasSuffix(": PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") }
        )
        #expect(!messages.contains { $0.contains("NETPATH_TEST_SECRET") || $0.contains("NETPATH_PLUGIN") })
        #expect(messages.contains { $0.hasSuffix("leads a session") })
        #expect(messages.contains { $0.hasSuffix("NoNewPrivs:\t1") })
    }

    @Test func aTypedCommandIsAsFreeAsWhoTypedIt() async throws {
        let stage = try Stage(
            [self.hook("pwd; echo \"$TYPED\"; grep NoNewPrivs: /proc/self/status")],
            ["TYPED": "mine"]
        )
        stage.runner.show(Self.up)
        try await stage.message("exit status 0")
        let own = FileAccess.contents("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("NoNewPrivs") }
        let folder = try #require(FileAccess.linkTarget("/proc/self/cwd"))
        for line in [folder, "mine", String(try #require(own))] {
            #expect(stage.messages.value.contains("info: --test: \(line)"))
        }
    }

    /// What a privileged netpath runs; as root only, since nobody else can make files of root's.
    @Suite(.enabled(if: geteuid() == 0, "files of root's can only be made by root"), .timeLimit(.minutes(5)))
    struct TrustTests {
        private func script(_ text: String, mode: mode_t = 0o755) throws -> (folder: TemporaryDirectory, hook: Hook) {
            let folder = try TemporaryDirectory(in: "/run")
            try folder.write("hook", "#!/bin/sh\n\(text)\n")
            _ = unsafe chmod(folder["hook"], mode)
            return (folder, Hook(name: "test", command: [folder["hook"]]))
        }

        @Test func aScriptOfRootsRuns() async throws {
            var (folder, hook) = try self.script("echo \"$(id -un) $NETPATH_STATUS\"")
            let stage = try Stage([hook])
            stage.runner.show(HookRunnerTests.up)
            try await stage.message("info: hook 'test': root satisfied")
            hook.user = "nobody"
            stage.runner.apply([hook])
            try await stage.message("info: hook 'test': nobody satisfied")
            withExtendedLifetime(folder) {}
        }

        @Test func aRefusalIsSaidOnceAndNotAtEachAttempt() async throws {
            var (folder, hook) = try self.script("echo it ran", mode: 0o777)
            hook.retries = 1
            let stage = try Stage([hook])
            stage.runner.show(HookRunnerTests.up)
            try await stage.message("is tried again in 1s (1 of 1)")
            while stage.runner.reports[0].runCount < 2 { try await Task.sleep(for: .milliseconds(10)) }
            stage.runner.show(HookRunnerTests.down)
            try await stage.message("unsatisfied: was not started")
            #expect(stage.messages.value.count { $0.contains("was not started") } == 2)
            withExtendedLifetime(folder) {}
        }

        @Test(arguments: [0o777, 0o775, 0o757] as [mode_t])
        func whatOthersCanWriteToDoesNotRun(mode: mode_t) async throws {
            let (folder, hook) = try self.script("echo it ran", mode: mode)
            let stage = try Stage([hook])
            stage.runner.show(HookRunnerTests.up)
            try await stage.message(
                "error: hook 'test': satisfied (initial): was not started: others than root can write"
            )
            // Looked at anew with every run.
            _ = unsafe chmod(folder["hook"], 0o755)
            stage.runner.show(HookRunnerTests.down)
            try await stage.message("it ran")
        }
    }

    @Test(arguments: [
        ("exit 3", "ended with exit status 3"), ("kill -SEGV $$", "was ended by signal 11"),
        ("exec /usr/bin/no-such-program", "ended with exit status 127"),
    ])
    func failuresAreTold(script: String, message: String) async throws {
        let stage = try Stage([self.hook(script)])
        stage.runner.show(Self.up)
        try await stage.message("error: --test: satisfied (initial): \(message)")
        #expect(stage.runner.reports[0].failureCount == 1)
    }

    @Test(arguments: [
        (["/there/is/nothing"], "No such file"), (["/etc/passwd"], "make it executable"), (["/usr"], "cannot execute"),
        (["no-such-program-anywhere"], "cannot find 'no-such-program-anywhere' in the folders of PATH"),
    ])
    func whatCannotBeStartedIsTold(command: [String], message: String) async throws {
        var hook = Hook(name: "test", command: command)
        hook.isTyped = true
        let stage = try Stage([hook])
        stage.runner.show(Self.up)
        try await stage.message("was not started: ")
        #expect(stage.messages.value.contains { $0.contains(message) })
        // The next state is told all the same.
        stage.runner.show(Self.down)
        try await stage.message("was not started: ", count: 2)
    }

    @Test func aFailureIsRepeated() async throws {
        let stage = try Stage([
            self.hook("echo attempt $NETPATH_ATTEMPT; test $NETPATH_ATTEMPT = 2") { $0.retries = 3 }
        ])
        stage.runner.show(Self.up)
        try await stage.message("ended with exit status 0")
        #expect(stage.messages.value.contains("info: --test: is tried again in 1s (1 of 3)"))
        #expect(stage.runner.reports[0].runs.map(\.attempt) == [2, 1])
    }

    @Test func whatHangsIsEndedWithAllThatItStarted() async throws {
        let folder = try TemporaryDirectory()
        // One child in the group, one in a session of its own, one of a parent that is gone, one that will not listen.
        let script = """
            sleep 1000 & echo $! >>pids; setsid sleep 1000 & echo $! >>pids
            setsid sh -c 'sleep 1000 & echo $! >>pids' & setsid sh -c 'trap "" TERM; echo $$ >>pids; sleep 1000; sleep 1000' &
            until [ "$(wc -l <pids)" = 4 ]; do sleep 0.01; done; echo ready; wait
            """
        let stage = try Stage([self.hook("cd \(folder.path); \(script)") { $0.timeout = .seconds(15) }])
        stage.runner.show(Self.up)
        try await stage.message("took too long and was ended after")
        let processes = (FileAccess.contents(folder["pids"]) ?? "").split(separator: "\n").compactMap { pid_t($0) }
        #expect(processes.count == 4)
        for process in processes { #expect(kill(process, 0) == -1, "\(process) is still there") }
        #expect(stage.runner.reports[0].runs.map(\.outcome) == [.timedOut])
    }

    /// One that says nothing for longer than it gets to end has all of that time nevertheless.
    @Test func aSilentCommandHasTheWholeTimeToEnd() async throws {
        let stage = try Stage([
            self.hook("trap 'sleep 0.1; echo cleaned up; exit 0' TERM; sleep 1000 & wait") { $0.timeout = .seconds(10) }
        ])
        stage.runner.show(Self.up)
        try await stage.message("took too long and was ended after")
        #expect(stage.messages.value.contains { $0.hasSuffix("cleaned up") })
    }

    @Test func whatStaysBehindIsEnded() async throws {
        let folder = try TemporaryDirectory()
        let stage = try Stage([
            self.hook(
                "setsid sh -c 'echo $$ >\(folder["pid"]); exec sleep 1000' & while ! [ -s \(folder["pid"]) ]; do :; done"
            )
        ])
        stage.runner.show(Self.up)
        try await stage.message("ended with exit status 0")
        let process = try #require(
            FileAccess.contents(folder["pid"])?.split(separator: "\n").first.flatMap { pid_t($0) }
        )
        #expect(kill(process, 0) == -1)
        #expect(stage.messages.value.contains { $0.contains("what it left behind was ended") })
    }

    @Test func aFloodIsReadAndDropped() async throws {
        let stage = try Stage([self.hook("head -c 10000000 /dev/zero | tr '\\0' '\\n'; yes | head -c 5000000 >&2")])
        stage.runner.show(Self.up)
        try await stage.message("bytes of output dropped")
        let run = try #require(stage.runner.reports[0].runs.first)
        #expect(run.outcome == .ended(.exited(0)))
        #expect(run.droppedBytes > 14_900_000)
        #expect(stage.messages.value.count <= 210)
    }

    @Test func whoDoesNotReadDoesNoHarm() async throws {
        // More than a pipe holds.
        let long = StatusSnapshot.stating(.satisfied, because: String(repeating: "x", count: 300_000))
        let stage = try Stage([self.hook("exec <&-; exit 0"), self.hook("exit 0") { $0.name = "other" }])
        stage.runner.show(long)
        try await stage.message("--test: satisfied (initial): ended with exit status 0")
        try await stage.message("--other: satisfied (initial): ended with exit status 0")
    }

    @Test func stoppingEndsWhatRuns() async throws {
        let stage = try Stage([
            self.hook("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done"),
            self.hook("trap '' TERM; echo ready; while :; do sleep 0.01; done") { $0.name = "stubborn" },
        ])
        stage.runner.show(Self.up)
        try await stage.message("ready", count: 2)
        let runner = stage.runner
        try await onBlockingThread { runner.stop(within: .milliseconds(300)) }
        #expect(runner.isIdle)
        #expect(runner.reports.map { $0.runs.map(\.outcome) } == [[.stopped], [.stopped]])
        runner.show(Self.down)
        #expect(runner.isIdle)
    }

    @Test func aNewConfigurationLeavesAloneWhatDidNotChange() async throws {
        let (kept, changed) = (self.hook("echo kept"), self.hook("echo ready; sleep 1000") { $0.name = "changed" })
        let stage = try Stage([kept, changed])
        stage.runner.show(Self.up)
        try await stage.message("--test: satisfied (initial): ended")
        try await stage.message("ready")
        var new = changed
        new.command = ["/bin/sh", "-c", "echo new $NETPATH_INITIAL"]
        stage.runner.apply([self.hook("echo added") { $0.name = "added" }, kept, new])
        try await stage.message("--changed: satisfied (initial): was stopped")
        // The former command had to end first.
        try await stage.message("--changed: new 1")
        try await stage.message("--added: satisfied (initial): ended")
        try await stage.message("--changed: satisfied (initial): ended")
        stage.runner.show(Self.down)
        try await stage.message("satisfied → unsatisfied: ended", count: 3)
        #expect(stage.runner.reports.map(\.hook.name) == ["added", "test", "changed"])
        #expect(stage.runner.reports.map(\.runCount) == [2, 2, 2])
        stage.runner.apply([])
        #expect(stage.runner.reports == [])
    }

    @Test func aChangeThatDoesNotHoldIsNotTold() async throws {
        let stage = try Stage([self.hook("echo slow $NETPATH_STATUS") { $0.holdTime = .seconds(15) }])
        // One after the other, so that whatever else runs here the first does not hold.
        stage.runner.show(Self.down)
        stage.runner.show(Self.up)
        try await stage.message("slow satisfied")
        #expect(!stage.messages.value.contains { $0.contains("slow unsatisfied") })
    }
}
