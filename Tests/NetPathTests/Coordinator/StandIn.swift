// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

@testable import NetPath

/// Two backends and a cable: one backend fails, and the other one, which is well, may stand in for it.
struct StandIn: CustomStringConvertible {
    /// What a backend knows.
    enum Kind: CaseIterable {
        case kernel
        /// Part of the routing policy.
        case partial
        /// States a path of this machine.
        case stating
        case probing
        /// States the path of another machine.
        case remote

        /// Whether its word is about the path of this machine.
        var reportsPaths: Bool { self != .probing && self != .remote }

        func word(_ network: Network, at time: MonotonicTime) -> Evidence {
            var conclusion = Conclusion(network.status, PathReason(.stated, "it says so"))
            conclusion.host = self == .remote ? "router" : nil
            let evidence: Evidence =
                switch self {
                case .kernel, .partial: network.seen
                case .stating, .remote: .stating(conclusion)
                case .probing: .probing(ProbeOutcome(target: "a:1", result: network.isUp ? .connected : .timedOut))
                }
            return evidence.changed {
                $0.observedAt = time
                $0.isPartial = self == .partial
            }
        }

        /// What it says when it cannot tell.
        func doubt(at time: MonotonicTime) -> Evidence {
            switch self {
            case .kernel, .partial:
                self.word(.up, at: time).unanswered(.ipv4).unanswered(.ipv6)
                    .changed { $0.isAbridged = true }
            case .stating, .remote: Evidence(at: time)
            case .probing: .probing(isComplete: false, at: time)
            }
        }
    }

    enum Fault: CaseIterable {
        /// It ends, again and again.
        case dies
        /// It says that its source is gone.
        case withdraws
        /// It does not answer.
        case starves
        /// It gets no answers.
        case cannotTell

        /// How long it takes until the fault is known.
        var notice: Duration { self == .starves ? Supervision.answerLimit : .zero }
    }

    enum Network: CaseIterable {
        case up
        case cableOut
        /// The cable is in, and the route is gone.
        case noRoute

        var isUp: Bool { self == .up }
        var status: PathStatus { self.isUp ? .satisfied : .unsatisfied }

        /// What there is to see of it.
        fileprivate var seen: Evidence {
            let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
            return switch self {
            case .up: .online(eth0)
            case .cableOut: .seeing(.loopback(), eth0.withoutCarrier())
            case .noRoute: .seeing(.loopback(), eth0)
            }
        }
    }

    var kinds: [Kind]
    var mode: BackendMode
    /// The position of the one that fails.
    var failing: Int
    var fault: Fault
    /// What the network comes to.
    var network: Network
    /// Whether it does so before the fault.
    var isEarly = false

    var description: String {
        "\(self.kinds) \(self.mode), \(self.failing) \(self.fault), \(self.network) \(self.isEarly ? "before" : "after") it"
    }

    static let all: [StandIn] = {
        var all: [StandIn] = []
        let pairs = Kind.allCases.flatMap { first in Kind.allCases.map { [first, $0] } }
        for kinds in pairs {
            for (mode, failing) in [(BackendMode.active, 0), (.active, 1), (.standby, 0), (.standby, 1)] {
                for fault in Fault.allCases {
                    for (network, isEarly) in Network.allCases.flatMap({ [($0, true), ($0, false)] }) {
                        var plan = StandIn(kinds: kinds, mode: mode, failing: failing, fault: fault, network: network)
                        plan.isEarly = isEarly
                        // One that does not run cannot fail.
                        if plan.isRunning { all.append(plan) }
                    }
                }
            }
        }
        return all
    }()

    /// Whether the one that fails ran before.
    private var isRunning: Bool {
        guard self.mode == .standby, self.failing == 1 else { return true }
        // It runs beside a backend that only probes, where it shows to be good for more.
        return !self.kinds[0].reportsPaths && self.kinds[1].reportsPaths
    }

    /// What a program says that watched all along, one second after the fault is known.
    func watched() -> NetworkPath? {
        var stage = StandInStage(self)
        stage.start(once: false)
        if self.isEarly { stage.turn(to: self.network) }
        stage.fail()
        if !self.isEarly { stage.turn(to: self.network) }
        stage.pass(self.fault.notice + .seconds(1))
        return stage.harness.path
    }

    /// What a program says that looks for the first time when all that has happened.
    func lookedAtOnce() -> NetworkPath? {
        var stage = StandInStage(self)
        stage.network = self.network
        stage.hasFailed = true
        stage.start(once: true)
        stage.pass(.seconds(3))
        return stage.harness.path
    }
}

/// Plays one case.
struct StandInStage {
    private(set) var harness: CoordinatorHarness
    private let plan: StandIn
    var network = StandIn.Network.up
    var hasFailed = false
    private var started = [0, 0]
    private var refreshed = 0
    private var cancelled = 0

    init(_ plan: StandIn) {
        self.plan = plan
        self.harness = CoordinatorHarness(.active, plan.mode)
    }

    mutating func start(once: Bool) {
        self.harness.start(once: once)
        self.pump()
    }

    mutating func turn(to network: StandIn.Network) {
        self.network = network
        for index in self.harness.running.sorted() { self.look(index) }
        self.pump()
    }

    mutating func fail() {
        self.hasFailed = true
        guard self.harness.running.contains(self.plan.failing) else { return }
        self.look(self.plan.failing)
        // A backend that starves is found out at the next question.
        if self.plan.fault == .starves { self.harness.refresh() }
        self.pump()
    }

    /// Lets time pass in small steps.
    mutating func pass(_ duration: Duration) {
        let end = self.harness.now + duration
        while self.harness.now < end {
            self.harness.advance(by: .milliseconds(10))
            self.pump()
        }
    }

    /// A backend does what it does when it looks.
    private mutating func look(_ index: Int) {
        // No two readings begin at the same moment.
        self.harness.sleep(for: .nanoseconds(1))
        let now = self.harness.now
        guard index == self.plan.failing, self.hasFailed else {
            return self.harness.report(index, self.plan.kinds[index].word(self.network, at: now))
        }
        switch self.plan.fault {
        case .dies: self.harness.end(index)
        case .withdraws: self.harness.reportUnavailable(index, "gone")
        case .starves: break
        case .cannotTell: self.harness.report(index, self.plan.kinds[index].doubt(at: now))
        }
    }

    /// Lets the backends do what they are asked to, until nothing more is.
    private mutating func pump() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in self.harness.running.sorted() where self.started[index] != self.harness.generations[index] {
                self.started[index] = self.harness.generations[index]
                isBusy = true
                self.look(index)
            }
            while self.cancelled < self.harness.cancelled.count {
                let index = self.harness.cancelled[self.cancelled]
                self.cancelled += 1
                isBusy = true
                self.harness.end(index, "cancelled")
            }
            while self.refreshed < self.harness.refreshed.count {
                let index = self.harness.refreshed[self.refreshed]
                self.refreshed += 1
                isBusy = true
                if self.harness.running.contains(index) { self.look(index) }
            }
        }
    }
}
