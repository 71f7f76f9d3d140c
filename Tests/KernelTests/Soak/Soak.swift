// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// `netpath run` in a network that walks, disturbed at random for as long as it is given.
///
/// What is done is a function of the seed, when it is done is not.
struct Soak {
    /// What may be done to the service besides what happens to its network.
    enum Disturbance: String, CaseIterable, Sendable {
        case backend
        case storm
        case overrun
        case plugin
        case hook
        case descriptors
        case reload
        case badReload
        case clients
        case serverClients
    }

    let seed: UInt64
    private let begin = ContinuousClock.now
    private let length: Duration
    /// After that part of the time nothing may grow any more: ten minutes, or a quarter of what is short.
    let firstPart: Double
    private var numbers: SeededGenerator
    private var lab: ChaosLab
    private let service: SoakService
    private var files: Set<String> = []
    private(set) var trend = SoakTrend()
    private(set) var counts: [String: Int] = [:]

    init(seed: UInt64, length: Duration) throws {
        self.seed = seed
        self.length = length
        self.firstPart = min(.seconds(600) / length, 0.25)
        self.numbers = SeededGenerator(seed: seed)
        var options = ""
        var service: SoakService?
        self.lab = try ChaosLab(Walk.Step(in: NetworkModel())) {
            options = $0
            return ""
        } start: { lab, configuration, environment in
            let made = try SoakService(
                in: lab,
                configuration: configuration,
                backendOptions: options,
                environment: environment
            )
            service = made
            return made.follower
        }
        guard let service else { throw WalkFailure(description: "the service was not started") }
        self.service = service
    }

    private var part: Double { (ContinuousClock.now - self.begin) / self.length }

    private mutating func count(_ what: String) { self.counts[what, default: 0] += 1 }

    /// Soaks until the time is over.
    ///
    /// - Throws: ``WalkFailure`` with everything that is known when something is wrong.
    mutating func run() throws {
        defer { self.lab.network.lab.close() }
        var chapter: UInt64 = 0
        do {
            try self.lab.settle()
            repeat {
                try self.walk(chapter)
                try self.rest()
                chapter += 1
            } while self.part < 1
            try self.end()
        } catch {
            throw WalkFailure(
                description: """
                    seed \(self.seed), chapter \(chapter), after \(ContinuousClock.now - self.begin); repeat with \
                    NETPATH_SOAK_SEED=\(self.seed): \(error)
                    \(self.counts)
                    \(self.service.messages)
                    the last minute of the recording:
                    \(self.service.lastMinute())
                    """
            )
        }
    }

    /// Takes a walk, after which the network is as empty as before.
    private mutating func walk(_ chapter: UInt64) throws {
        // What sysfs cannot see it cannot tell when it has taken over.
        let walk = Walk(seed: self.seed &* 1_000_003 &+ chapter, length: 30, isPlain: true)
        try self.lab.begin(ignoringRoutesWithoutCarrier: walk.preparation.model.ignoresRoutesWithoutCarrier)
        try self.lab.take(walk.preparation)
        var steps = walk.steps[...]
        while !steps.isEmpty {
            try self.maybe(&steps)
            for _ in 0..<Int.random(in: 0...2, using: &self.numbers) {
                if let one = Disturbance.allCases.randomElement(using: &self.numbers) { try self.disturb(one) }
                self.pause()
            }
            try self.maybe(&steps)
            self.pause()
            if Int.random(in: 0..<3, using: &self.numbers) > 0 { try self.mend() } else { try self.mendBackends() }
            try self.maybe(&steps)
            try self.lab.settle()
            self.count("settled")
        }
        try self.lab.take(Walk.Step(emptying: self.lab.model))
    }

    private mutating func maybe(_ steps: inout ArraySlice<Walk.Step>) throws {
        guard Int.random(in: 0..<3, using: &self.numbers) > 0, let step = steps.popFirst() else { return }
        try self.lab.take(step)
        self.count("steps")
    }

    /// Lets some time pass, since what happens depends on when; nothing waits for anything here.
    private mutating func pause() {
        let longest: Double = [0.0, 0.02, 0.3, 1.5].randomElement(using: &self.numbers) ?? 0
        if longest > 0 { Thread.sleep(forTimeInterval: Double.random(in: 0...longest, using: &self.numbers)) }
    }

    private mutating func disturb(_ disturbance: Disturbance) throws {
        self.count(disturbance.rawValue)
        switch disturbance {
        case .backend:
            let harm = ChaosRun.harms.randomElement(using: &self.numbers) ?? "kill"
            self.lab.order("\(["netlink", "netlink", "sysfs"].randomElement(using: &self.numbers) ?? "") \(harm)")
        case .storm: try self.service.storm(count: Int.random(in: 1...400, using: &self.numbers))
        case .overrun: try self.service.overrun(count: Int.random(in: 100...600, using: &self.numbers))
        case .plugin: try self.service.setPlugin(SoakScripts.moods.randomElement(using: &self.numbers) ?? "end")
        case .hook: try self.service.setHook(SoakScripts.hookMoods.randomElement(using: &self.numbers) ?? "fails")
        case .descriptors: try self.service.limitFiles(to: Int.random(in: 0...3, using: &self.numbers))
        case .reload, .badReload:
            let all: [SoakConfiguration] = disturbance == .reload ? [.usual, .other, .small] : [.broken, .refused]
            try self.service.configure(
                all.randomElement(using: &self.numbers) ?? .usual,
                signals: Bool.random(using: &self.numbers)
            )
        case .clients, .serverClients:
            let questions =
                disturbance == .clients
                ? ["watch", "status", "metrics", "details", "nonsense", "history"].map {
                    #"{"request":"\#($0)","since":0}"#
                }
                : ["events", "status", "metrics", "history?hours=24", "nonsense"]
            try self.service.addClients(
                Int.random(in: 1...20, using: &self.numbers),
                asking: questions.randomElement(using: &self.numbers) ?? "",
                ofServer: disturbance == .serverClients
            )
        }
    }

    private mutating func mendBackends() throws {
        // What is not read for want of descriptors is not known, which is no fault.
        try self.service.restoreFiles()
        for backend in ["netlink", "sysfs"] { self.lab.order("\(backend) work") }
    }

    private mutating func mend() throws {
        try self.mendBackends()
        try self.service.mend()
    }

    /// Mends everything, and compares what is held when nothing happens any more.
    private mutating func rest() throws {
        try self.mend()
        try self.lab.settle()
        let isFirstPart = self.part <= self.firstPart
        // A hook, a reply or a plugin may be on its way, and the server gives way to whatever else runs; what is held longer than
        // that is held for ever.
        let deadline = ContinuousClock.now + .seconds(300)
        var holdings = self.service.holdings()
        while ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 1)
            let later = self.service.holdings()
            let isAtRest = !later.holdsMore(than: holdings) && !holdings.holdsMore(than: later)
            holdings = later
            let isMore = self.trend.first(until: self.firstPart).map { later.holdsMore(than: $0) } ?? false
            if isAtRest, isFirstPart || !isMore { break }
        }
        if !isFirstPart, let first = self.trend.first(until: self.firstPart), holdings.holdsMore(than: first) {
            throw WalkFailure(description: "held more and more: \(holdings), and in the first part \(first)")
        }
        self.trend.add(holdings, at: self.part)
        let files = try self.service.files()
        if !self.files.isEmpty, files != self.files {
            throw WalkFailure(description: "files are left, or gone: \(files.symmetricDifference(self.files))")
        }
        self.files = files
    }

    private mutating func end() throws {
        try self.service.end()
        let replayed = try ReplayedPaths(
            of: self.service.recording,
            by: WalkEnvironment.program,
            in: self.lab.network.lab
        )
        try replayed.contain(self.lab.latest.map { ReplayedPaths.stable($0.value) })
        self.counts["replayed"] = replayed.paths.count
        self.counts["takeovers"] = self.lab.takeovers
    }
}

extension Walk.Step {
    /// The step that leaves nothing of a network.
    init(emptying model: NetworkModel) {
        self.init(in: model)
        for rule in model.rules { self.extend(by: .removeRule(rule)) }
        for interface in model.interfaces { self.extend(by: .deleteInterface(interface)) }
        for route in self.model.routes { self.extend(by: .removeRoute(route)) }
    }
}
