// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

/// How a running command is told to end.
struct HookControl: Sendable {
    /// The outcome to record of a command that is ended.
    var end: HookRun.Outcome?
    /// How long it may take to end after SIGTERM.
    var patience: Duration = .seconds(2)
    /// Whether it is killed at once.
    var isUrgent = false
}

/// One run of a hook's command, confined to the thread that blocks for it.
///
/// The thread sleeps until the command writes, reads or ends, or the runner ends it.
final class HookProcess {
    /// What is logged of a run.
    private static let outputLimit = 16_384
    private static let lineLimit = 200
    private static let lineLength = 500

    private let hook: Hook
    private let input: HookInput
    private let environment: [String: String]
    private let control: Mailbox<HookControl>
    private let log: (LogLevel, String) -> Void
    private var outcome: HookRun.Outcome?
    private var outgoing: ArraySlice<UInt8> = []
    private var lines = [LineBuffer(limit: 4096), LineBuffer(limit: 4096)]
    private var loggedBytes = 0
    private var loggedLines = 0
    /// How many bytes of its output were not logged.
    private(set) var droppedBytes = 0

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - hook: What to run.
    ///   - input: What to tell it.
    ///   - environment: The variables of a command that the user typed.
    ///   - control: Receives how the run is to end.
    ///   - log: Receives what it writes, line by line.
    init(
        _ hook: Hook,
        input: HookInput,
        environment: [String: String],
        control: Mailbox<HookControl>,
        log: @escaping (LogLevel, String) -> Void
    ) {
        self.hook = hook
        self.input = input
        self.environment = environment
        self.control = control
        self.log = log
    }

    /// Runs the command until it and all that it started have ended, as far as they can be ended.
    func run() -> HookRun.Outcome {
        ChildProcess.blockBrokenPipes()
        do throws(LaunchError) {
            guard self.hook.trigger == .dispatcher else { return self.wait(for: try ChildProcess(self.plan())) }
            // One that fails withholds nothing from the next: a script is told of each interface for itself.
            var first: HookRun.Outcome?
            for event in self.input.dispatcherEvents where self.outcome == nil {
                let outcome = self.wait(for: try ChildProcess(self.plan(event)))
                if !outcome.isGood { first = first ?? outcome }
            }
            return first ?? .ended(.exited(0))
        } catch {
            return .notStarted(error.description)
        }
    }

    private func plan(_ event: DispatcherEvent? = nil) throws(LaunchError) -> LaunchPlan {
        let variables = self.input.variables(of: self.hook).merging(event?.variables ?? [:]) { $1 }
        let command = self.hook.command + (event.map { [$0.interface, $0.action] } ?? [])
        if self.hook.isTyped {
            let all = self.environment.merging(variables) { $1 }
            return try LaunchPlan(typed: command, environment: all)
        }
        return try LaunchPlan(
            command,
            environment: variables,
            user: self.hook.user,
            permissions: .hook
        )
    }

    private func wait(for process: ChildProcess) -> HookRun.Outcome {
        self.outgoing = self.input.snapshot.jsonLine[...]
        self.lines = [LineBuffer(limit: 4096), LineBuffer(limit: 4096)]
        var killTime: MonotonicTime?
        while true {
            self.send(to: process)
            if let ending = process.ending {
                self.readRest(of: process)
                return self.outcome ?? .ended(ending)
            }
            let now = MonotonicTime.now()
            if let killTime, killTime + ChildProcess.supervisorPatience <= now {
                process.end(request: nil, patience: .zero)
                return self.outcome ?? .stopped
            }
            let ready = FileDescriptor.poll(
                readable: [
                    process.output?.number ?? -1, process.errors?.number ?? -1, process.endDescriptor,
                    self.control.fileDescriptor,
                ],
                writable: [self.outgoing.isEmpty ? -1 : process.input?.number ?? -1],
                timeout: self.timeout(process, killTime, now)
            )
            if ready[0], !self.read(process.output, 0) { process.closeOutput() }
            if ready[1], !self.read(process.errors, 1) { process.closeErrors() }
            if ready[3] {
                let control = self.control.take()
                if let end = control.end, self.outcome == nil {
                    self.outcome = end
                    process.terminate()
                    // From now on, and not from when the wait began.
                    killTime = .now() + control.patience
                }
                if control.isUrgent { killTime = .now() }
            }
            if let time = killTime, time <= .now() { process.kill() }
        }
    }

    /// How long nothing can happen that no descriptor tells.
    private func timeout(_ process: ChildProcess, _ killTime: MonotonicTime?, _ now: MonotonicTime) -> Duration? {
        // Where the kernel cannot tell of the end.
        if process.endDescriptor < 0 { return .milliseconds(50) }
        guard let killTime else { return nil }
        return max(.zero, (killTime > now ? killTime : killTime + ChildProcess.supervisorPatience) - now)
    }

    /// A command need not read what it is told.
    private func send(to process: ChildProcess) {
        guard process.input != nil else { return }
        if !self.outgoing.isEmpty {
            guard let count = process.write(self.outgoing.prefix(65_536)) else {
                self.outgoing = []
                return
            }
            self.outgoing = self.outgoing.dropFirst(count)
        }
        if self.outgoing.isEmpty { process.closeInput() }
    }

    // MARK: Output

    /// Reads what is there; false at the end.
    private func read(_ descriptor: FileDescriptor?, _ stream: Int) -> Bool {
        guard let bytes = ChildProcess.read(descriptor, limit: 65_536) else { return false }
        // What exceeds the limits is dropped unread: a command may write without end.
        guard self.loggedBytes < Self.outputLimit, self.loggedLines < Self.lineLimit else {
            self.droppedBytes += bytes.count
            return true
        }
        let kept = bytes.prefix(Self.outputLimit - self.loggedBytes)
        self.loggedBytes += kept.count
        self.droppedBytes += bytes.count - kept.count
        self.lines[stream].append(kept)
        while let line = self.lines[stream].next() { self.logLine(line.bytes, stream) }
        return true
    }

    private func logLine(_ bytes: ArraySlice<UInt8>, _ stream: Int) {
        let text = String(decoding: bytes.prefix(Self.lineLength), as: UTF8.self)
        guard !text.isEmpty else { return }
        guard self.loggedLines < Self.lineLimit else {
            self.droppedBytes += bytes.count + 1
            return
        }
        self.loggedLines += 1
        self.log(stream == 0 ? .info : .warning, text)
    }

    /// What was written before the end, of which there can be no more than pipes hold.
    private func readRest(of process: ChildProcess) {
        for (stream, descriptor) in [process.output, process.errors].enumerated() {
            for _ in 0..<16 {
                guard self.read(descriptor, stream) else { break }
            }
            let rest = self.lines[stream].rest
            if !rest.isEmpty { self.logLine(rest, stream) }
        }
    }
}
