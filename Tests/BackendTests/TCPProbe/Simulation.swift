// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathTCPProbe

/// A network in which a schedule runs on a clock of its own; checks on the way that every action is legal.
struct Simulation {
    /// What becomes of an attempt and when; nil for silence.
    typealias Answer = (after: Duration, result: ProbeOutcome.Result)

    var answer: (ProbeEndpoint) -> Answer? = { _ in nil }
    var lookup: (String) -> (after: Duration, NameLookup)? = { _ in nil }

    private(set) var schedule: ProbeSchedule
    private(set) var now: MonotonicTime
    private(set) var connects: [(at: Duration, to: String)] = []
    private(set) var closes: [Duration] = []
    private(set) var lookups: [(at: Duration, name: String)] = []
    private(set) var reports: [(at: Duration, round: ProbeRound, of: Duration)] = []

    private enum Event {
        case ended(Int, ProbeOutcome.Result)
        case resolved(String, NameLookup)
    }
    private var events: [(at: MonotonicTime, Event)] = []
    private var inFlight: Set<Int> = []
    private var usedAttempts: Set<Int> = []
    private var outstanding: Set<String> = []

    static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// Starts a monitor; a later one of the same process has the same ledger.
    init(
        _ options: TCPProbeMonitor.Options,
        seed: UInt64 = 1,
        ledger: ProbeLedger = ProbeLedger(),
        at time: Duration = .zero
    ) {
        self.now = Self.start + time
        self.schedule = ProbeSchedule(
            options,
            random: SeededGenerator(seed: seed),
            ledger: ledger,
            now: self.now
        )
    }

    /// Whether the path is metered.
    var isMetered: Bool {
        get { self.schedule.isMetered }
        set { self.schedule.isMetered = newValue }
    }
    /// The time since the start.
    var elapsed: Duration { self.now - Self.start }
    /// Whether attempts are under way.
    var isBusy: Bool { !self.inFlight.isEmpty }

    /// Lets time pass until a moment after the start.
    mutating func run(until end: Duration) {
        self.perform(self.schedule.proceed(now: self.now))
        var turns = 0
        while true {
            let deadline = self.schedule.nextDeadline(now: self.now)
            let event = self.events.min { $0.at < $1.at }?.at
            let next = min(deadline, event ?? deadline)
            guard next <= Self.start + end else { break }
            // A deadline that has passed and does not go away would spin.
            turns = next <= self.now ? turns + 1 : 0
            guard turns < 1000 else {
                Issue.record("the schedule spins at \(self.elapsed)")
                return
            }
            self.now = max(self.now, next)
            while let index = self.events.firstIndex(where: { $0.at <= self.now }) {
                self.deliver(self.events.remove(at: index).1)
            }
            self.perform(self.schedule.proceed(now: self.now))
        }
        self.now = max(self.now, Self.start + end)
    }

    mutating func refresh() {
        self.perform(self.schedule.refresh(now: self.now))
    }

    /// A lookup that hung comes back.
    mutating func resolve(_ name: String, _ lookup: NameLookup) {
        self.deliver(.resolved(name, lookup))
    }

    private mutating func deliver(_ event: Event) {
        switch event {
        case .ended(let attempt, let result):
            guard self.inFlight.remove(attempt) != nil else { return }
            self.perform(self.schedule.ended(attempt: attempt, result, now: self.now))
        case .resolved(let name, let lookup):
            self.outstanding.remove(name)
            self.perform(self.schedule.resolved(name, lookup, now: self.now))
        }
    }

    private mutating func perform(_ actions: [ProbeSchedule.Action]) {
        for action in actions {
            switch action {
            case .round(.resolve(let name)):
                #expect(self.outstanding.insert(name).inserted, "\(name) is being looked up already")
                self.lookups.append((self.elapsed, name))
                if let (delay, lookup) = self.lookup(name) {
                    self.events.append((self.now + delay, .resolved(name, lookup)))
                }
            case .round(.connect(let attempt, let endpoint)):
                #expect(self.usedAttempts.insert(attempt).inserted, "attempt \(attempt) was made before")
                self.inFlight.insert(attempt)
                self.connects.append((self.elapsed, "\(endpoint.address)"))
                if let answer = self.answer(endpoint) {
                    self.events.append((self.now + answer.after, .ended(attempt, answer.result)))
                }
            case .round(.close(let attempt)):
                #expect(self.inFlight.remove(attempt) != nil, "attempt \(attempt) is not open")
                self.closes.append(self.elapsed)
            case .report(let round, let time): self.reports.append((self.elapsed, round, time - Self.start))
            }
        }
    }
}
