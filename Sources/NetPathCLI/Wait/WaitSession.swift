// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// A wait with its backends: what they say goes into a ``WaitMachine`` on whatever thread brings it.
final class WaitSession: Sendable {
    private struct State: Sendable {
        var machine: WaitMachine
        /// When the loop wakes up by itself.
        var deadline: MonotonicTime?
    }

    private let loop: EventLoop
    /// Whether what is missing is shown on a terminal, so that every change is worth waking up for.
    private let isShown: Bool
    private let state: Mutex<State>

    init(_ terms: WaitMachine.Terms, policy: EvaluationPolicy, loop: EventLoop, isShown: Bool) {
        self.loop = loop
        self.isShown = isShown
        self.state = Mutex(State(machine: WaitMachine(terms, policy: policy, now: loop.now())))
    }

    /// The machine as it is now.
    var machine: WaitMachine { self.state.withLock { $0.machine } }

    // MARK: News

    /// Takes what has become known; wakes the loop when it has something to do.
    func take(_ change: (inout WaitView) -> Void) {
        let now = self.loop.now()
        let isUrgent = self.state.withLock { state in
            state.machine.take(at: now, change)
            let deadline = state.machine.nextDeadline(after: now)
            defer { state.deadline = deadline }
            return state.machine.outcome != nil || deadline != state.deadline
        }
        if isUrgent || self.isShown { self.loop.wakeUp.wake(.output) }
    }

    /// Takes what the backends of a coordinator say.
    func follow(_ coordinator: PathCoordinator) {
        coordinator.subscribeSnapshots { [weak self] snapshots in self?.take { $0.snapshots = snapshots } }
        coordinator.subscribe { [weak self] path in self?.take { $0.see(path) } }
    }

    /// Takes the paths of a service from now on, where one answers.
    func follow(_ service: AnsweringService) {
        let path = service.status?.path
        self.take { $0.serve(path) }
        guard path != nil else { return }
        let isFollowed = service.follow(
            { [weak self] path in self?.take { if $0.isServed { $0.serve(path) } } },
            onEnd: { [weak self] in self?.take { $0.serve(nil) } }
        )
        if !isFollowed { self.take { $0.serve(nil) } }
    }

    /// Asks the backends once, and takes what they say, and a service that asks more of them; only where none of them
    /// reaches out.
    func ask(_ coordinator: PathCoordinator, _ service: AnsweringService?) -> WaitMachine.Outcome? {
        let inquiry = OneShotCommand.ask(coordinator, on: self.loop, limit: WaitMachine.firstLook)
        let served = service?.status(beside: inquiry.snapshot)?.path
        self.take { view in
            view.snapshots = inquiry.snapshots
            view.see(inquiry.snapshot.path)
            view.serve(served)
        }
        return self.machine.outcome
    }

    // MARK: Waiting

    /// Turns the loop until the wait has an outcome.
    ///
    /// - Parameters:
    ///   - line: Shows what is missing; nil without a terminal.
    ///   - onWakeUp: Called with what the thread was woken for; throws to end the wait.
    /// - Returns: The outcome; nil when a signal asked for the end.
    func run(
        showing line: ProgressLine?,
        onWakeUp: (LoopWakeUp.Reasons) throws -> Void
    ) rethrows -> WaitMachine.Outcome? {
        while true {
            let now = self.loop.now()
            let machine = self.state.withLock { state in
                state.machine.wake(at: now)
                state.deadline = state.machine.nextDeadline(after: now)
                return state.machine
            }
            if let outcome = machine.outcome { return outcome }
            line?.show(machine.progress(at: now))
            let moments = [machine.nextDeadline(after: now), line.map { _ in machine.nextSecond(after: now) }]
            let limit = moments.compactMap(\.self).min().map { max(.zero, $0 - now) }
            let reasons = self.loop.turn(limit: limit).reasons
            if reasons.contains(.stop) { return nil }
            try onWakeUp(reasons)
        }
    }
}
