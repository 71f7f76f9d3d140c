// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// Takes a setup through its steps, with a monitor looking on and datagrams to decide.
struct SetupRun {
    /// What came of it.
    struct Outcome: Sendable {
        var steps = 0
        /// The steps at which the monitor was wrong, explained.
        var wrong: [String] = []
        /// Those of them that no route and no neighbour tells.
        var untold: [String] = []
        /// How often the monitor was in doubt, in a setup that was made at random.
        var doubts = 0
        /// How often it was right without a doubt that there is a path.
        var paths = 0
        /// How long after each step the line came that was right.
        var delays: [Duration] = []
    }

    /// Setups at the same time: most of theirs is spent waiting for datagrams that do not come.
    private static let places = 4

    /// How long datagrams and monitor may disagree: neighbours are looked for, and interfaces settle.
    private static let patience: Duration = .seconds(4)
    /// How long a busy machine may keep the far side waiting.
    private static let longPatience: Duration = .seconds(20)

    private let setup: Setup
    private let network: SetupNetwork
    private let monitor: MonitorProcess
    private let fresh: FreshLook
    private var outcome = Outcome()
    private var hasPlayedSpares = Spares.areAlwaysThere

    /// Runs setups, and records what was wrong.
    ///
    /// - Returns: What came of them, in words.
    static func play(_ setups: [Setup]) async -> String {
        let start = ContinuousClock.now
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for (number, setup) in setups.enumerated() {
                if number >= Self.places, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { await Self.outcome(of: setup) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        for problem in outcomes.flatMap(\.wrong) { Issue.record("\(problem)") }
        for problem in outcomes.flatMap(\.untold) { print(problem) }
        func sum(_ count: (Outcome) -> Int) -> Int { outcomes.map(count).reduce(0, +) }
        let delays = outcomes.flatMap(\.delays).sorted()
        let late = delays.isEmpty ? .zero : delays[delays.count * 99 / 100]
        return """
            \(setups.count) setups with \(sum(\.steps)) steps in \(ContinuousClock.now - start): \(sum(\.wrong.count)) wrong, \
            \(sum(\.untold.count)) wrong that no route and no neighbour tells; a path \(sum(\.paths)) times, a doubt \
            \(sum(\.doubts)) times; right within \(late) of 99 in 100 steps, \(delays.last ?? .zero) of all
            """
    }

    /// Runs a setup on a thread of its own, since all of the lab's calls block.
    private static func outcome(of setup: Setup) async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread {
                do {
                    let network = try SetupNetwork(setup)
                    defer { network.lab.close() }
                    var run = try SetupRun(setup, network)
                    try run.run()
                    if setup.isRandom, !run.outcome.wrong.isEmpty { run.outcome.wrong.append("\(setup)") }
                    continuation.resume(returning: run.outcome)
                } catch {
                    continuation.resume(returning: Outcome(wrong: ["\(setup.title): \(error)"]))
                }
            }.start()
        }
    }

    private init(_ setup: Setup, _ network: SetupNetwork) throws {
        self.setup = setup
        self.network = network
        let configuration = "\(network.lab.directory)/netpath.yaml"
        let rules = [Spares.rule, setup.rules].filter { !$0.isEmpty }.joined(separator: ", ")
        // The embedded default, but for the marks.
        let backends = ["netlink", "sysfs, mode: standby"].map { "{type: \($0), resolvConf: \(network.resolverFile)}" }
        try "backends: [\(backends.joined(separator: ", "))]\ninterfaces: [\(rules)]\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        try network.mark()
        if Spares.areAlwaysThere { try network.perform(Spares(beside: setup).appear) }
        self.monitor = try network.lab.start(Watched.program, ["watch", "--json", "--config", configuration])
        self.fresh = FreshLook(in: network.lab, of: try Watched.program, configuration: configuration)
        if setup.isRandom { self.hasPlayedSpares = true }
    }

    private mutating func run() throws {
        try self.check(Step("as it is made", []))
        for step in self.setup.steps {
            do {
                try self.network.perform(step.commands)
            } catch {
                throw SetupFailure(description: "step '\(step.title)': \(error)")
            }
            try self.check(step)
        }
        try self.monitor.stop()
    }

    private mutating func check(_ step: Step) throws {
        self.outcome.steps += 1
        let line = try self.compareWithDatagrams(step)
        try self.compareWithFreshLook(step, line)
        if !self.hasPlayedSpares, line["status"] == "satisfied" { try self.checkSpares(after: step, line) }
    }

    /// Compares what the monitor says with what datagrams find out, until they agree or patience ends.
    ///
    /// - Returns: What it says then.
    private mutating func compareWithDatagrams(_ step: Step) throws -> JSONLine {
        let begin = ContinuousClock.now
        let end = begin + Self.patience
        var interruption: String?
        var isFirst = true
        while true {
            let line = try self.network.settled(self.monitor) { line in
                if step.isSteady, line["status"] != "satisfied" { interruption = line.text }
            }
            let said = Datagrams(said: line)
            var datagrams = try self.network.lab.sendDatagrams(
                waiting: isFirst ? .milliseconds(400) : .seconds(1),
                addresses: isFirst ? 1 : 12
            )
            let isOver = ContinuousClock.now >= end
            if isOver, step.untold == nil, said.ipv4 && !datagrams.ipv4 || said.ipv6 && !datagrams.ipv6 {
                datagrams = try self.network.lab.sendDatagrams(waiting: Self.longPatience, addresses: 12)
            }
            if self.setup.isRandom, SaidPath(line.value).isDoubtful {
                self.outcome.doubts += 1
                return line
            }
            if said == datagrams {
                self.outcome.delays.append(max(.zero, line.receivedAt - begin))
                if line["status"] == "satisfied" { self.outcome.paths += 1 }
                if let interruption { self.record(step, "was not satisfied all the time: \(interruption)") }
                return line
            }
            if isOver {
                self.record(step, try self.explanation(line, datagrams))
                return line
            }
            isFirst = false
        }
    }

    /// Compares what the monitor says with what a program says that starts now.
    private mutating func compareWithFreshLook(_ step: Step, _ line: JSONLine) throws {
        // What was lost is remembered, in a random setup wherever that was; while there is a path both say the same.
        let lost: MonitorMemory? = line["status"] == "satisfied" ? nil : .gatewayPort
        let memory = self.setup.isRandom ? lost : RememberedSteps.memory(of: self.setup, after: step)
        let comparison = try self.fresh.compare(with: line, remembering: memory) {
            try self.network.settled(self.monitor) { _ in }
        }
        switch comparison {
        case .differs(let difference): self.fail(after: step.title, "\(difference)\n\(try self.network.state())")
        // A spare card is a reason for both to say no.
        case .same where memory != nil && !self.setup.isRandom && !Spares.areAlwaysThere:
            self.fail(after: step.title, "knows no more than a fresh look")
        case .same, .remembered: break
        }
    }

    /// Checks that interfaces that carry nothing change nothing, once in a setup.
    private mutating func checkSpares(after step: Step, _ line: JSONLine) throws {
        self.hasPlayedSpares = true
        let spares = Spares(beside: self.setup)
        for (event, commands) in [("spare interfaces appear", spares.appear), ("they go", spares.disappear)] {
            try self.network.perform(commands)
            var interruption: String?
            let now = try self.network.settled(self.monitor) { line in
                if line["status"] != "satisfied" { interruption = line.text }
            }
            let title = "\(step.title)' and '\(event)"
            if let interruption { self.fail(after: title, "was not satisfied all the time: \(interruption)") }
            let difference = SaidPath(now.value).difference(from: SaidPath(line.value))
            if let difference { self.fail(after: title, "says \(difference)") }
            try self.compareWithFreshLook(Step(title, []), now)
        }
    }

    private mutating func fail(after title: String, _ text: String) {
        self.outcome.wrong.append("\(self.setup.title): after '\(title)' netpath: \(text)")
    }

    private mutating func record(_ step: Step, _ text: String) {
        let entry = "\(self.setup.title): after '\(step.title)' netpath \(text)"
        if let reason = step.untold {
            self.outcome.untold.append("\(entry)\n    not to be told: \(reason)")
        } else {
            self.outcome.wrong.append(entry)
        }
    }

    private func explanation(_ line: JSONLine, _ datagrams: Datagrams) throws -> String {
        """
        says \(Self.summary(line.value)); \(datagrams)
            a fresh one says \(Self.summary(try self.fresh.take()))
        \(try self.network.state())
        """
    }

    private static func summary(_ path: JSONValue) -> String {
        let families = [("supportsIPv4", "IPv4"), ("supportsIPv6", "IPv6")].filter { path[$0.0] == true }.map(\.1)
        return """
            \(path["status"]?.string ?? "nothing") (\(families.joined(separator: ", "))), \
            \(path["reason"]?["code"]?.string ?? "-"): \(path["reason"]?["message"]?.string ?? "-")
            """
    }
}

/// Why a setup could not be played.
private struct SetupFailure: Error, CustomStringConvertible {
    let description: String
}
