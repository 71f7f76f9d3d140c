// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import Synchronization

/// A path as it was handed to everybody who shares it.
package final class PathSnapshot: Sendable {
    /// The path; nil when no backend had a verdict in time.
    package let path: NetworkPath?
    /// Counts up over the life of the process.
    package let number: UInt64

    init(_ path: NetworkPath?, number: UInt64) {
        self.path = path
        self.number = number
    }
}

/// A monitor that shares the coordinator of the process.
package protocol SharedPathListener: AnyObject, Sendable {
    /// Whether it wants paths now; asked under the lock of ``SharedCoordinator``, so it must not call there.
    var wantsPaths: Bool { get }
    /// Takes a path; called on any thread, one call may overtake another: the higher number is the newer path.
    func receive(_ snapshot: PathSnapshot)
}

/// The one coordinator of a process: started with the first who wants paths, stopped when the last does not any more.
///
/// One that the application made is started too, unless it runs, but not stopped. Listeners that want paths are kept
/// alive.
package final class SharedCoordinator: Sendable {
    /// The one of this process.
    package static let process = SharedCoordinator(clock: BackgroundExecutor()) { .standard(on: $0) }

    /// A new listener is called within this time, even if no backend has a verdict.
    static let silenceLimit: Duration = .seconds(1)

    /// Where the coordinator comes from.
    private enum Origin: Sendable {
        /// Made for every run, and stopped after it.
        case made(@Sendable (BackgroundExecutor) -> PathCoordinator)
        /// Made by the application.
        case given(PathCoordinator)
    }

    private struct State: Sendable {
        var origin: Origin
        var sharers: [ObjectIdentifier: any SharedPathListener] = [:]
        /// What runs; nil while no listener wants paths.
        var coordinator: PathCoordinator?
        /// Counts the runs, of which several may have the same coordinator.
        var run: UInt64 = 0
        var subscription: ObservationToken?
        var silence: Task<Void, Never>?
        var latest: PathSnapshot?
        var number: UInt64 = 0
    }

    private enum Step: Sendable {
        case start(PathCoordinator, run: UInt64)
        case stop(PathCoordinator?, ObservationToken?, Task<Void, Never>?)
        case greet(PathSnapshot)
        case nothing
    }

    /// The thread on which its coordinators and timers run.
    package let executor: BackgroundExecutor
    private let state: Mutex<State>

    /// Makes a source of paths, with a function that makes its coordinators.
    package init(clock executor: BackgroundExecutor, make: @escaping @Sendable (BackgroundExecutor) -> PathCoordinator)
    {
        self.executor = executor
        self.state = Mutex(State(origin: .made(make)))
    }

    /// Makes a source of the paths of a coordinator that the application made.
    package init(_ coordinator: PathCoordinator) {
        self.executor = BackgroundExecutor()
        self.state = Mutex(State(origin: .given(coordinator)))
    }

    /// Takes a coordinator that the application made, from the next run on.
    ///
    /// - Returns: Whether it was taken: not while a listener wants paths.
    package func use(_ coordinator: PathCoordinator) -> Bool {
        self.state.withLock { state in
            guard state.coordinator == nil else { return false }
            state.origin = .given(coordinator)
            return true
        }
    }

    /// The current path; nil without a listener, or when nothing is known yet.
    package var latest: PathSnapshot? { self.state.withLock { $0.latest } }

    /// The coordinator, for clients that ask it more than paths; the same for as long as a listener wants paths.
    package var coordinator: PathCoordinator? { self.state.withLock { $0.coordinator } }

    /// Has everything read again, if there is a listener.
    package func refresh() {
        self.state.withLock { $0.coordinator }?.refresh()
    }

    /// Asks a listener whether it wants paths, and acts on the answer; call it after every change of the answer.
    ///
    /// Of calls on several threads the one that asks last decides, so that no change is lost.
    package func update(_ sharer: some SharedPathListener) {
        let step: Step = self.state.withLock { state in
            guard sharer.wantsPaths else {
                guard state.sharers.removeValue(forKey: ObjectIdentifier(sharer)) != nil, state.sharers.isEmpty
                else { return .nothing }
                state.latest = nil
                let coordinator = state.coordinator.take()
                let isOurs = if case .made = state.origin { true } else { false }
                return .stop(isOurs ? coordinator : nil, state.subscription.take(), state.silence.take())
            }
            guard state.sharers.updateValue(sharer, forKey: ObjectIdentifier(sharer)) == nil else { return .nothing }
            guard state.coordinator != nil else {
                let coordinator =
                    switch state.origin {
                    case .made(let make): make(self.executor)
                    case .given(let coordinator): coordinator
                    }
                state.coordinator = coordinator
                state.run += 1
                state.silence = self.waitForSilence(inRun: state.run)
                return .start(coordinator, run: state.run)
            }
            return state.latest.map { .greet($0) } ?? .nothing
        }
        // Outside the lock: coordinators call back.
        switch step {
        case .start(let coordinator, let run):
            let subscription = coordinator.subscribe { [weak self] path in self?.publish(path, inRun: run) }
            let isWanted = self.state.withLock { state in
                guard state.run == run, state.coordinator != nil else { return false }
                state.subscription = subscription
                return true
            }
            if isWanted { coordinator.start() } else { subscription.cancel() }
        case .stop(let coordinator, let subscription, let silence):
            silence?.cancel()
            subscription?.cancel()
            coordinator?.stop()
        case .greet(let snapshot): sharer.receive(snapshot)
        case .nothing: break
        }
    }

    /// Hands out a path, unless it is of a run that has ended meanwhile.
    private func publish(_ path: NetworkPath?, inRun run: UInt64) {
        let (snapshot, sharers) = self.state.withLock { state in
            guard state.coordinator != nil, state.run == run, path != nil || state.latest == nil else {
                return (PathSnapshot?.none, state.sharers)
            }
            state.number += 1
            let snapshot = PathSnapshot(path, number: state.number)
            state.latest = snapshot
            state.silence?.cancel()
            state.silence = nil
            return (snapshot, state.sharers)
        }
        guard let snapshot else { return }
        for sharer in sharers.values { sharer.receive(snapshot) }
    }

    private func waitForSilence(inRun run: UInt64) -> Task<Void, Never> {
        let deadline = self.executor.now() + Self.silenceLimit
        return Task(executorPreference: self.executor) { [weak self, executor = self.executor] in
            do { try await executor.sleep(until: deadline) } catch { return }
            self?.publish(nil, inRun: run)
        }
    }
}
