// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

/// What one run of a hook's command is told.
struct HookInput: Hashable, Sendable {
    /// The state there is.
    var snapshot: StatusSnapshot
    /// The state that was told before; nil when none was.
    var previous: StatusSnapshot?
    /// How often the command was run with this state, this run included.
    var attempt = 1

    /// Whether it is the first state that the hook is told.
    var isInitial: Bool { self.previous == nil }
}

/// Decides when the command of one hook runs and what it is told, without running anything.
///
/// One run at a time, and the newest state wins: what came and went while the command ran, or did not hold long enough,
/// is never told. A state counts as told when the command was started with it, since a run that failed may have done
/// half of its work.
struct HookMachine: Sendable {
    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Run the command, and say when it has ended.
        case run(HookInput)
        /// End the run, whose time is over, and say when it has ended.
        case terminate
        /// Tell the operator.
        case log(LogLevel, String)
    }

    private enum Phase: Hashable, Sendable {
        case idle
        /// The command runs, until then at most; nil for as long as it takes.
        case running(until: MonotonicTime?)
        case stopped
    }

    /// The pause before the first repetition; each further one is twice as long.
    private static let firstPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(300)

    private let hook: Hook
    private var phase: Phase
    /// The state there is, and since when there has been no other that the hook would tell apart.
    private var newest: (snapshot: StatusSnapshot, since: MonotonicTime)?
    /// What the command was run with last.
    private var told: HookInput?
    /// When to run the command again with what it was told.
    private var retryTime: MonotonicTime?

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - hook: What to decide for.
    ///   - isOccupied: Whether a run for another hook has to end first, as told by ``ended(well:now:)``.
    init(_ hook: Hook, isOccupied: Bool = false) {
        self.hook = hook
        self.phase = isOccupied ? .running(until: nil) : .idle
    }

    /// When ``wake(now:)`` is to be called; nil when only something else can change anything.
    var nextDeadline: MonotonicTime? {
        switch self.phase {
        case .running(let deadline): return deadline
        case .stopped: return nil
        case .idle:
            guard let newest else { return nil }
            return self.isTold(newest.snapshot) ? self.retryTime : newest.since + self.hook.holdTime
        }
    }

    /// Takes the state there is now.
    mutating func show(_ snapshot: StatusSnapshot, now: MonotonicTime) -> [Action] {
        let isSame = self.newest.map { self.hook.trigger.isSame($0.snapshot, snapshot) } ?? false
        self.newest = (snapshot, isSame ? self.newest?.since ?? now : now)
        return self.proceed(now)
    }

    /// Takes note of the end of the run.
    ///
    /// - Parameters:
    ///   - isGood: Whether it did what it was run for.
    ///   - now: When that was.
    /// - Returns: What is to be done.
    mutating func ended(well isGood: Bool, now: MonotonicTime) -> [Action] {
        guard case .running = self.phase else { return [] }
        self.phase = .idle
        var actions: [Action] = []
        if !isGood, let told, told.attempt <= self.hook.retries {
            let pause = Self.pause(after: told.attempt)
            self.retryTime = now + pause
            if let newest, self.isTold(newest.snapshot) {
                let text = "is tried again in \(DurationText.format(pause)) (\(told.attempt) of \(self.hook.retries))"
                actions.append(.log(.info, text))
            }
        }
        return actions + self.proceed(now)
    }

    /// Does what is due.
    mutating func wake(now: MonotonicTime) -> [Action] {
        if case .running(let deadline?) = self.phase, deadline <= now {
            self.phase = .running(until: nil)
            return [.terminate]
        }
        return self.proceed(now)
    }

    /// Decides nothing any more.
    ///
    /// - Returns: The end of the run, if there is one.
    mutating func stop() -> [Action] {
        defer { self.phase = .stopped }
        if case .running = self.phase { return [.terminate] }
        return []
    }

    private mutating func proceed(_ now: MonotonicTime) -> [Action] {
        guard self.phase == .idle, let newest else { return [] }
        var next = HookInput(snapshot: newest.snapshot, previous: self.told?.snapshot)
        if let told, self.isTold(newest.snapshot) {
            guard let retryTime, retryTime <= now else { return [] }
            next.previous = told.previous
            next.attempt = told.attempt + 1
        } else if newest.since + self.hook.holdTime > now {
            return []
        }
        self.retryTime = nil
        self.told = next
        self.phase = .running(until: now + self.hook.timeout)
        return [.run(next)]
    }

    private func isTold(_ snapshot: StatusSnapshot) -> Bool {
        self.told.map { self.hook.trigger.isSame($0.snapshot, snapshot) } ?? false
    }

    private static func pause(after attempt: Int) -> Duration {
        attempt > 9 ? self.longestPause : min(self.firstPause * (1 << (attempt - 1)), self.longestPause)
    }
}

extension Hook.Trigger {
    /// Whether a hook does not tell two states apart.
    func isSame(_ left: StatusSnapshot, _ right: StatusSnapshot) -> Bool {
        switch self {
        case .status: left.path?.status == right.path?.status
        case .interface: left.path?.status == right.path?.status && left.hasSameCarrier(as: right)
        case .any: left.path == right.path
        case .dispatcher: left.connectivityState == right.connectivityState && left.hasSameCarrier(as: right)
        }
    }
}

extension StatusSnapshot {
    /// The interface that carries the path; nil when there is no path, or it is unknown.
    var carrier: PathInterface? { self.path?.status == .satisfied ? self.path?.interfaces.first : nil }

    fileprivate func hasSameCarrier(as other: StatusSnapshot) -> Bool {
        self.carrier?.index == other.carrier?.index && self.carrier?.name == other.carrier?.name
    }
}
