// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathExec
import NetPathTestKit
import Testing

/// A plugin that does wrong, and what is said of it.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
    var name: String
    var command: [String]
    /// What the report says of it; nil for a plugin that does well all the same.
    var complaint: String?
    var heartbeat: Duration?

    var testDescription: String { self.name }

    /// A plugin in the language of the shell.
    init(_ name: String, _ script: String, _ complaint: String?, heartbeat: Duration? = nil) {
        self.init(name, command: ["/bin/sh", "-c", script], complaint, heartbeat: heartbeat)
    }

    init(_ name: String, command: [String], _ complaint: String?, heartbeat: Duration? = nil) {
        self.name = name
        self.command = command
        self.complaint = complaint
        self.heartbeat = heartbeat
    }

    static let hello = #"echo '{"netpath":1,"name":"bad"}'; "#
    static let taking = #"echo '{"netpath":1,"requests":["refresh"]}'; "#
    static let report = #"echo '{"conclusion":{"status":"unsatisfied"}}'; "#
    private static func perl(_ script: String) -> [String] { ["/usr/bin/perl", "-e", "$|=1;" + script] }

    static let all: [Misbehaviour] = [
        .init("hangs at the start", "exec sleep 1000", "wrote no line within"),
        .init("says nothing it promised", "sleep 2; \(hello) sleep 1000", "wrote no line within"),
        .init("hangs later", "\(hello) \(report) exec sleep 1000", "its heartbeat", heartbeat: .milliseconds(300)),
        .init("stops itself", "\(hello) \(report) kill -STOP $$", "its heartbeat", heartbeat: .milliseconds(300)),
        .init(
            "hangs within a line",
            "\(hello) printf '{\"concl'; exec sleep 1000",
            "its heartbeat",
            heartbeat: .milliseconds(300)
        ),
        .init("reads no requests", "\(taking) \(report) exec sleep 1000", "did not answer a refresh"),
        .init("closes its input", "\(taking) \(report) exec sleep 1000 <&-", "closed its input"),
        .init("crashes", "kill -SEGV $$", "was ended by signal 11"),
        .init("is killed", "\(hello) \(report) kill -KILL $$", "was ended by signal 9"),
        .init("exits at once", "echo no luck >&2; exit 3", "ended with exit status 3; it wrote: no luck"),
        .init("exits after a report", "\(hello) \(report) exit 0", "ended with exit status 0"),
        .init("is missing", command: ["/usr/bin/there-is-no-such-plugin"], "there-is-no-such-plugin"),
        .init("is nowhere", command: ["/there/is/no/such/folder"], "/there"),
        .init("is not executable", command: ["/etc/passwd"], "make it executable"),
        .init("is a folder", command: ["/usr/bin"], "/usr/bin"),
        .init("writes garbage", "echo hello, world", "is not JSON"),
        .init("writes garbage without end", "yes", "is not JSON"),
        .init("writes NULs", #"printf '\0\0\0\n'"#, "is not JSON"),
        .init("writes NULs within text", hello + #"printf '{"log":"\0"}\n'"#, "control character"),
        .init("writes what is not UTF-8", hello + #"printf '{"log":"\377\376"}\n'"#, "not UTF-8"),
        .init("writes half a line and ends", "\(hello) printf '{\"conclusion\":{\"sta'", "ended with exit status 0"),
        .init("writes a line of 1 GB", "\(hello) head -c 1000000000 /dev/zero", "is longer than 256 KiB"),
        .init("writes an empty line", "\(hello) echo", "ends too early"),
        .init("closes its output", "\(hello) \(report) exec >&-; exec sleep 1000", "closed its output"),
        .init(
            "closes its output within a line",
            "\(hello) printf '{'; exec >&-; exec sleep 1000",
            "in the middle of a line"
        ),
        .init("nests too deep", command: perl("print '[' x 100000, qq(\\n)"), "levels deep"),
        .init("writes too many values", command: perl("print '{\"a\":[', '0,' x 50000, qq(0]}\\n)"), "values"),
        .init(
            "writes huge numbers",
            hello + #"echo '{"conclusion":{"status":"satisfied","ageMilliseconds":1e999}}'"#,
            "too large"
        ),
        .init(
            "writes numbers that do not fit",
            hello + #"echo '{"evidence":{"interfaces":[{"name":"a","index":99999999999999999999}]}}'"#,
            "a whole number from"
        ),
        .init(
            "names a member twice",
            hello + #"echo '{"conclusion":{"status":"satisfied","status":"unsatisfied"}}'"#,
            "two members"
        ),
        .init("speaks another version", #"echo '{"netpath":99}'"#, "unsupported version"),
        .init("says no hello", report, "has to be a hello"),
        .init("says hello twice", "\(hello) \(hello)", "second hello"),
        .init("sends unknown messages", hello + #"echo '{"conclusions":{}}'"#, "is no message"),
        .init("invents a status", hello + #"echo '{"conclusion":{"status":"online"}}'"#, "allowed: unsatisfied"),
        .init("takes all memory", command: perl("my $x = 'x' x (1 << 32)"), "ended with exit status 1"),
        .init("floods with reports", "\(hello) yes '{\"conclusion\":{\"status\":\"unsatisfied\"}}'", nil),
        .init("floods its standard error", "\(hello) \(report) yes trouble >&2", nil),
        .init("ignores shutdown and SIGTERM", "trap '' TERM; \(hello) \(report) while :; do sleep 1000; done", nil),
        .init(
            "leaves its children the output",
            "\(hello) \(report) sleep 1000 & sleep 1000 & exit 0",
            "ended with exit status 0"
        ),
        .init(
            "leaves a session of its own",
            "\(hello) \(report) setsid sleep 3 & sleep 0.2; exit 0",
            "ended with exit status 0"
        ),
        .init("closes everything", "\(hello) \(report) exec sleep 1000 <&- >&- 2>&-", "closed its output"),
        .init("raises its limits", "ulimit -d unlimited || exit 5", "ended with exit status"),
    ]
}

/// Whatever a plugin does, the path of those who see it stays right.
struct MisbehaviourTests {
    private struct State: Sendable {
        var snapshots: [BackendSnapshot] = []
        var statuses: Set<String> = []
        var complaints: [String] = []
    }

    @Test(arguments: Misbehaviour.all)
    func theStatusStaysRight(plugin: Misbehaviour) async throws {
        let eye = ScriptedMonitor(.online(.wired("eth0", 2).with("192.0.2.7/24")))
        var options = ExecMonitor.Options(command: plugin.command)
        options.helloDeadline = .milliseconds(500)
        options.heartbeat = plugin.heartbeat
        let coordinator = PathCoordinator(backends: [
            Backend("eye", monitor: eye), Backend("plugin", monitor: ExecMonitor(options)),
        ])
        let state = AwaitableState(State())
        coordinator.subscribe { path in
            // On a busy machine the plugin may be the first to answer.
            if path.status != .satisfied, state.value.statuses.isEmpty { return }
            state.update { _ = $0.statuses.insert("\(path.status)\(path.isStale ? " stale" : "")") }
        }
        coordinator.subscribeSnapshots { snapshots in
            state.update {
                $0.snapshots = snapshots
                if let error = snapshots[1].report.error { $0.complaints.append(error) }
            }
        }
        coordinator.start()
        if let complaint = plugin.complaint {
            if plugin.name == "reads no requests" || plugin.name == "closes its input" {
                try await state.wait { $0.snapshots.last?.report.health == .healthy }
                coordinator.refresh()
            }
            try await state.wait { $0.complaints.contains { $0.contains(complaint) } }
        } else {
            try await state.wait { $0.snapshots.last?.report.health == .healthy }
        }
        eye.report(.online(.wired("eth0", 2).with("192.0.2.7/24")))
        // A busy machine may let the other one answer late.
        #expect(state.value.statuses.subtracting(["satisfied stale"]) == ["satisfied"])
        coordinator.stop()
    }

    /// The processes of a plugin, which writes their numbers to its log.
    @Test(arguments: [
        "trap '' TERM; sleep 1000 & echo '{\"netpath\":1}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; wait; sleep 1000",
        "sleep 1000 & echo '{\"netpath\":1,\"requests\":[\"refresh\"]}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; while :; do wait; done",
        "sleep 1000 & echo '{\"netpath\":1}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; kill -STOP $$",
        "sleep 1000 & echo '{\"netpath\":1}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; exit 0",
        // Daemons, of a plugin that is ended and of one that ends.
        "setsid sleep 1000 & echo '{\"netpath\":1}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; wait",
        "setsid sleep 1000 & echo '{\"netpath\":1}'; echo \"{\\\"log\\\":\\\"$$ $!\\\"}\"; exit 0",
    ])
    func nothingOfAPluginIsLeft(script: String) async throws {
        let said = AwaitableState<[String]>([])
        let streams = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Set<InternetAddress>.self))
        let context = MonitorContext(
            clock: SystemMonotonicClock(),
            refreshRequests: streams.0.stream,
            watchedAddresses: streams.1.stream,
            report: { _ in },
            register: { _ in },
            log: { _, message in said.update { $0.append(message) } }
        )
        let monitor = ExecMonitor(ExecMonitor.Options(command: ["/bin/sh", "-c", script]))
        let run = Task { try await monitor.run(context) }
        @Sendable func processes(_ lines: [String]) -> [Int32] {
            lines.map { $0.split(separator: " ").compactMap { Int32($0) } }.first { $0.count == 2 } ?? []
        }
        try await said.wait { !processes($0).isEmpty }
        run.cancel()
        _ = await run.result
        let found = processes(said.value)
        // The leader was waited for; its child is everybody's, and may be waited for by nobody.
        #expect(kill(found[0], 0) != 0)
        #expect(!Self.runs(found[1]))
    }

    /// Whether a process has not ended, be it waited for or not.
    private static func runs(_ process: Int32) -> Bool {
        guard let file = unsafe fopen("/proc/\(process)/stat", "r") else { return false }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard unsafe fgets(&line, 512, file) != nil else { return false }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let state = text.split(separator: ")").last?.split(separator: " ").first
        // Dying takes a moment after the signal.
        return !(state == "Z" || state == "X")
    }
}
