// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem
import Synchronization

/// Runs the commands of hooks as the path changes, and keeps how they went.
///
/// Each running command has a thread that blocks for it; while none runs nothing happens here. Pauses are tasks that
/// sleep on the loop, which the program has to run.
final class HookRunner: Sendable {
    /// A hook, what decides for it, and how it went.
    private struct Entry: Sendable {
        var machine: HookMachine
        var report: HookReport
        /// The run of this hook, or of the one that had its name before; nil when there is none.
        var run: Int?
        var hook: Hook { self.report.hook }

        init(_ hook: Hook, run: Int? = nil) {
            self.machine = HookMachine(hook, isOccupied: run != nil)
            self.report = HookReport(hook: hook)
            self.run = run
        }
    }

    /// A run that is under way.
    private struct Run: Sendable {
        var hook: Hook
        var input: HookInput
        var startedAt: ClockReading
        var control: Mailbox<HookControl>
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var runs: [Int: Run] = [:]
        var lastNumber = 0
        var newest: StatusSnapshot?
        var isStopped = false
        /// What calls the machines when the first of their deadlines has come.
        var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
    }

    /// What is left to do when the lock is free again.
    private enum Effect {
        case start(Int, Run)
        case log(LogLevel, String)
    }

    private let loop: EventLoop
    private let environment: [String: String]
    private let log: @Sendable (LogLevel, String) -> Void
    private let state = Mutex(State())
    /// Wakes who waits for the last run to end.
    private let ended: WakeUp

    /// Makes a runner; nothing runs before there is a path.
    ///
    /// - Parameters:
    ///   - hooks: What to run.
    ///   - loop: Sleeps where something has to wait.
    ///   - environment: What commands that the user typed get; the others get little.
    ///   - log: Receives what the commands write, and how they end, on any thread.
    /// - Throws: `SystemError` when the process may open no more files.
    init(
        _ hooks: [Hook],
        loop: EventLoop,
        environment: [String: String] = [:],
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.environment = environment
        self.log = log
        self.ended = try WakeUp()
        self.state.withLock { $0.entries = hooks.map { Entry($0) } }
    }

    /// The hooks and their latest runs, in the order of the configuration.
    var reports: [HookReport] { self.state.withLock { $0.entries.map(\.report) } }

    /// Whether no command runs.
    var isIdle: Bool { self.state.withLock { $0.runs.isEmpty } }

    /// Takes the state there is now; callable from any thread, never waits for a command.
    func show(_ snapshot: StatusSnapshot) {
        self.change { state, now in
            guard !state.isStopped else { return [] }
            state.newest = snapshot
            return self.performAll(&state) { $0.show(snapshot, now: now) }
        }
    }

    /// Takes the hooks of a new configuration: those that did not change go on as if nothing had happened, the others
    /// begin with the state there is.
    func apply(_ hooks: [Hook]) {
        self.change { state, now in
            guard !state.isStopped else { return [] }
            let former = Dictionary(state.entries.map { ($0.hook.name, $0) }) { first, _ in first }
            for entry in state.entries where !hooks.contains(entry.hook) {
                if let run = entry.run { state.runs[run]?.control.post { $0.end = .stopped } }
            }
            state.entries = hooks.map { hook in
                let entry = former[hook.name]
                return entry?.hook == hook ? entry ?? Entry(hook) : Entry(hook, run: entry?.run)
            }
            guard let newest = state.newest else { return [] }
            return self.performAll(&state) { $0.show(newest, now: now) }
        }
    }

    /// Runs the loop until no command runs, or a signal asks the program to end.
    ///
    /// Nothing is shown any more by then.
    func finish() {
        while !self.isIdle {
            if self.loop.reasons().contains(.stop) { return }
        }
    }

    /// Ends every command with all that it started, and blocks until that is done.
    ///
    /// - Parameter patience: How long they may take to end when asked; what is left then is killed.
    func stop(within patience: Duration) {
        self.state.withLock { state in
            state.isStopped = true
            state.timer?.task.cancel()
            state.timer = nil
            for index in state.entries.indices { _ = state.entries[index].machine.stop() }
            for run in state.runs.values {
                run.control.post { control in
                    control.end = .stopped
                    control.patience = patience
                }
            }
        }
        // Each is killed when its own time is over; this is for one whose thread does not come to it.
        if self.wait(until: .now() + patience + .seconds(1)) { return }
        self.state.withLock { state in
            for run in state.runs.values { run.control.post { $0.isUrgent = true } }
        }
        if !self.wait(until: .now() + .seconds(5)) { self.log(.error, "a command of a hook could not be ended") }
    }

    private func wait(until deadline: MonotonicTime) -> Bool {
        while !self.isIdle {
            let rest = deadline - .now()
            guard rest > .zero else { return false }
            _ = FileDescriptor.poll(readable: [self.ended.fileDescriptor], timeout: rest)
            self.ended.drain()
        }
        return true
    }

    // MARK: Performing

    /// Changes the state under the lock, and does the rest without it.
    private func change(_ body: (inout State, MonotonicTime) -> [Effect]) {
        let effects = self.state.withLock { state in
            let effects = body(&state, .now())
            self.setTimer(&state)
            return effects
        }
        for effect in effects {
            switch effect {
            case .log(let level, let text): self.log(level, text)
            case .start(let number, let run):
                if !BackgroundThread.start({ self.execute(number, run) }) {
                    self.finish(number, .notStarted("no thread can be started"), droppedBytes: 0)
                }
            }
        }
    }

    /// Has every machine do something.
    private func performAll(_ state: inout State, _ step: (inout HookMachine) -> [HookMachine.Action]) -> [Effect] {
        state.entries.indices.flatMap { index in
            self.perform(step(&state.entries[index].machine), index, &state)
        }
    }

    private func perform(_ actions: [HookMachine.Action], _ index: Int, _ state: inout State) -> [Effect] {
        let hook = state.entries[index].hook
        return actions.flatMap { action -> [Effect] in
            switch action {
            case .log(let level, let text): return [.log(level, "\(hook.title): \(text)")]
            case .terminate:
                if let run = state.entries[index].run { state.runs[run]?.control.post { $0.end = .timedOut } }
                return []
            case .run(let input):
                do throws(SystemError) {
                    let run = Run(
                        hook: hook,
                        input: input,
                        startedAt: .now(),
                        control: try Mailbox(HookControl())
                    )
                    state.lastNumber += 1
                    state.runs[state.lastNumber] = run
                    state.entries[index].run = state.lastNumber
                    state.entries[index].report.runningSince = run.startedAt.wall
                    return [.start(state.lastNumber, run)]
                } catch {
                    let now = ClockReading.now()
                    let run = HookRun(input, at: now, outcome: .notStarted(error.description), droppedBytes: 0)
                    state.entries[index].report.record(run)
                    return [.log(run.level, run.message(of: hook))]
                        + self.perform(
                            state.entries[index].machine.ended(well: false, now: now.monotonic),
                            index,
                            &state
                        )
                }
            }
        }
    }

    private func execute(_ number: Int, _ run: Run) {
        let process = HookProcess(
            run.hook,
            input: run.input,
            environment: self.environment,
            control: run.control
        ) { level, text in
            self.log(level, "\(run.hook.title): \(text)")
        }
        let outcome = process.run()
        self.finish(number, outcome, droppedBytes: process.droppedBytes)
    }

    private func finish(_ number: Int, _ outcome: HookRun.Outcome, droppedBytes: Int) {
        guard let run = self.state.withLock({ $0.runs[number] }) else { return }
        let record = HookRun(run.input, at: run.startedAt, outcome: outcome, droppedBytes: droppedBytes)
        let isKnown = self.state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.run == number && $0.hook == run.hook }) else {
                return false
            }
            defer { state.entries[index].report.record(record) }
            return record.repeats(state.entries[index].report.runs.first)
        }
        // Before the end is known: who waits for that may end the program.
        if !isKnown { self.log(record.level, record.message(of: run.hook)) }
        self.change { state, now in
            state.runs[number] = nil
            guard let index = state.entries.firstIndex(where: { $0.run == number }) else { return [] }
            state.entries[index].run = nil
            return self.perform(state.entries[index].machine.ended(well: outcome.isGood, now: now), index, &state)
        }
        self.ended.wake()
        self.loop.wakeUp.wake(.output)
    }

    private func setTimer(_ state: inout State) {
        let deadline = state.isStopped ? nil : state.entries.compactMap(\.machine.nextDeadline).min()
        guard deadline != state.timer?.deadline else { return }
        state.timer?.task.cancel()
        state.timer = deadline.map { deadline in
            let task = Task(executorPreference: self.loop) { [weak self, loop = self.loop] in
                do { try await loop.sleep(until: deadline) } catch { return }
                self?.wake(deadline)
            }
            return (deadline, task)
        }
    }

    private func wake(_ deadline: MonotonicTime) {
        self.change { state, now in
            if state.timer?.deadline == deadline { state.timer = nil }
            return self.performAll(&state) { $0.wake(now: now) }
        }
    }
}

extension HookRun {
    /// Whether it is a further attempt of the run before that was not started either, for the same reason.
    fileprivate func repeats(_ former: HookRun?) -> Bool {
        guard case .notStarted = self.outcome, self.attempt > 1 else { return false }
        return self.outcome == former?.outcome
    }

    fileprivate init(_ input: HookInput, at start: ClockReading, outcome: Outcome, droppedBytes: Int) {
        self.init(
            startedAt: start.wall,
            status: input.snapshot.path?.status,
            reason: input.snapshot.path?.reason,
            previousStatus: input.previous?.path?.status,
            isInitial: input.isInitial,
            attempt: input.attempt,
            duration: max(.zero, .now() - start.monotonic),
            outcome: outcome,
            droppedBytes: droppedBytes
        )
    }
}
