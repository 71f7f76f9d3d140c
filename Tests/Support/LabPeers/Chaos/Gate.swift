// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Synchronization

/// What a backend has to pass on its way to the coordinator.
final class Gate: Sendable {
    enum Condition: Hashable, Sendable {
        /// Everything passes at once.
        case works
        /// Every run ends with an error.
        case fails
        /// Nothing passes, until it works again: then the last report does.
        case wedged
        /// Every report passes so much later, as from a thread that gets no time.
        case starved(Duration)
    }

    /// A report on its way, numbered in the order they were made.
    struct Parcel: Sendable {
        var number: Int
        var evidence: Evidence
        var deliver: @Sendable (Evidence) -> Void
    }

    private struct State {
        var condition = Condition.works
        var held: Parcel?
        var latest: Parcel?
        var lastNumber = 0
        var lastPassed = 0
        var failures: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastRun = 0
    }

    private let state = Mutex(State())

    /// Ends the present run with an error, once.
    func kill() {
        for failure in self.state.withLock({ $0.failures.values.map { $0 } }) { failure.yield() }
    }

    func set(_ condition: Condition) {
        let released = self.state.withLock { state -> Parcel? in
            state.condition = condition
            guard condition != .wedged else { return nil }
            defer { state.held = nil }
            return state.held
        }
        if condition == .fails { return self.kill() }
        if let released { self.pass(released) }
    }

    /// Reports what is not true, for tests of those who look for lies.
    func lie() {
        guard var parcel = self.state.withLock(\.latest) else { return }
        parcel.evidence.interfaces = []
        for position in parcel.evidence.referenceRoutes.indices {
            parcel.evidence.referenceRoutes[position].answer = .noRoute
        }
        parcel.deliver(parcel.evidence)
    }

    /// Lets a report through, or not yet.
    func take(_ evidence: Evidence, deliver: @escaping @Sendable (Evidence) -> Void) {
        let (parcel, condition) = self.state.withLock { state in
            state.lastNumber += 1
            let parcel = Parcel(number: state.lastNumber, evidence: evidence, deliver: deliver)
            state.latest = parcel
            if state.condition == .wedged { state.held = parcel }
            return (parcel, state.condition)
        }
        switch condition {
        case .works: self.pass(parcel)
        case .fails, .wedged: break
        case .starved(let delay):
            Task {
                try? await Task.sleep(for: delay)
                self.pass(parcel)
            }
        }
    }

    /// Delivers a report, unless a later one was delivered, or the gate is closed by now.
    private func pass(_ parcel: Parcel) {
        let mayPass = self.state.withLock { state in
            if state.condition == .wedged { state.held = parcel }
            guard parcel.number > state.lastPassed, state.condition != .fails, state.condition != .wedged else {
                return false
            }
            state.lastPassed = parcel.number
            return true
        }
        if mayPass { parcel.deliver(parcel.evidence) }
    }

    /// Waits until this run has to end with an error, or is cancelled.
    func failure() async {
        let (orders, continuation) = AsyncStream<Void>.makeStream()
        let run = self.state.withLock { state in
            state.lastRun += 1
            state.failures[state.lastRun] = continuation
            // A parcel of an earlier run must not be taken for this one's.
            state.held = nil
            if state.condition == .fails { continuation.yield() }
            return state.lastRun
        }
        for await _ in orders { break }
        self.state.withLock { _ = $0.failures.removeValue(forKey: run) }
    }
}

/// The gates of all backends, by type.
final class GateBoard: Sendable {
    private let gates = Mutex<[String: Gate]>([:])

    subscript(type: String) -> Gate {
        self.gates.withLock { gates in
            let gate = gates[type] ?? Gate()
            gates[type] = gate
            return gate
        }
    }

    /// Does what a line says: `TYPE kill`, `TYPE fail`, `TYPE wedge`, `TYPE starve MILLISECONDS`, `TYPE lie` or `TYPE
    /// work`.
    func obey(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count >= 2 else { return }
        let gate = self[String(words[0])]
        switch words[1] {
        case "kill": gate.kill()
        case "fail": gate.set(.fails)
        case "lie": gate.lie()
        case "wedge": gate.set(.wedged)
        case "starve": gate.set(.starved(.milliseconds(words.last.flatMap { Int($0) } ?? 100)))
        default: gate.set(.works)
        }
    }
}
