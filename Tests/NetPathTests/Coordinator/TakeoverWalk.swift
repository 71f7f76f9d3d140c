// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

@testable import NetPath

/// One random walk: what happens to the world and to those who watch it.
struct TakeoverWalk {
    /// A backend, which reads one time after the other; each reading is of the moment it begins.
    struct Actor {
        let isPartial: Bool
        /// Whether it states what it reads instead of showing it.
        var isStating = false
        var isWedged = false
        var isSlow = false
        var lacksVerdict = false
        var ignoresCancellation = false
        var reading: Reading?
        /// Until when a subscriber keeps it inside `report`.
        var heldUntil: MonotonicTime?
        /// Whether it has to read again when it can.
        var isAsked = false
    }

    /// A reading that takes a while.
    struct Reading {
        let began: MonotonicTime
        let ends: MonotonicTime
        let generation: Int
        let world: TakeoverWorld
        let evidence: Evidence
    }

    private(set) var harness: CoordinatorHarness
    private(set) var world = TakeoverWorld.first
    private(set) var lies: [String] = []
    private let isTold: Bool
    /// What happened, for people.
    private(set) var history: [String] = []
    private var oracle = TakeoverOracle()
    private(set) var actors: [Int: Actor] = [:]
    private var generator: SeededGenerator
    private var names: [(name: String, mode: BackendMode)]
    private var settings: CoordinatorSettings
    private var handled = (started: [Int: Int](), refreshed: 0, cancelled: 0)

    /// Begins a walk; to note what happens (`isTold`) takes half of the time.
    init(seed: UInt64, isTold: Bool = false) {
        self.isTold = isTold
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...4, using: &generator)
        let policy = MergePolicy.allCases[Int.random(in: 0..<4, using: &generator)]
        self.settings = CoordinatorSettings(merge: policy)
        // The first sees everything: what nobody ever saw in full cannot be known.
        let modes = (0..<count).map { index in
            index == 0 ? .active : BackendMode.allCases[Int.random(in: 0..<3, using: &generator)]
        }
        self.names = modes.enumerated().map { ("b\($0)", $1) }
        self.harness = CoordinatorHarness(modes: modes, settings: self.settings)
        for index in 0..<count {
            let isStating = Int.random(in: 0..<4, using: &generator) == 0
            let isPartial = index > 0 && Bool.random(using: &generator)
            self.actors[index] = Actor(isPartial: isPartial && !isStating, isStating: isStating)
        }
        // Some know nothing from the beginning.
        self.actors[0]?.lacksVerdict = Int.random(in: 0..<4, using: &generator) == 0
        self.generator = generator
        self.harness.start()
        self.pump()
    }

    var summary: String {
        let backends = self.harness.machine.snapshots.map {
            "\($0.report.name) \($0.report.mode) \($0.report.health) \($0.report.status?.rawValue ?? "nil")"
        }
        return "\(self.settings.merge), \(self.world), \(backends), path \(self.pathInWords)"
    }

    private var pathInWords: String {
        guard let path = self.harness.path else { return "nil" }
        return "\(path.status)\(path.isStale ? ", stale," : "") as of \(path.observedAt - CoordinatorHarness.origin)"
    }

    mutating func step() {
        let ids = self.harness.machine.members.map(\.id)
        let id = ids[Int.random(in: 0..<ids.count, using: &self.generator)]
        switch Int.random(in: 0..<26, using: &self.generator) {
        case 0...3: self.turn(to: TakeoverWorld.allCases[Int.random(in: 0..<5, using: &self.generator)])
        case 4...7: self.kill(id)
        case 8: self.actors[id]?.isWedged = true
        case 9: self.actors[id]?.isSlow.toggle()
        case 10: self.actors[id]?.lacksVerdict.toggle()
        case 11, 12: self.recover(id)
        case 13: self.actors[id]?.ignoresCancellation.toggle()
        case 14: self.read(id)
        case 15: self.harness.report(id, TakeoverWorld.gone.seen(isPartial: false, at: self.harness.now), generation: 0)
        case 16: self.hold(id)
        case 17: self.harness.refresh()
        case 18:
            self.harness.sleep(for: .seconds(Int.random(in: 0..<100, using: &self.generator)))
            self.harness.wake()
        case 19: self.configure()
        case 20: self.overtake(id, by: TakeoverWorld.allCases[Int.random(in: 0..<5, using: &self.generator)])
        case 21: self.pass(.seconds(Int.random(in: 1..<20, using: &self.generator)))
        default: self.pass(.milliseconds(Int.random(in: 1..<1_200, using: &self.generator)))
        }
        self.pump()
    }

    /// Makes everybody well, and lets time pass.
    mutating func settle() {
        for id in self.actors.keys.sorted() {
            self.actors[id]?.ignoresCancellation = false
            self.actors[id]?.isSlow = false
            self.recover(id)
            // Who was cancelled and did not care ends at last.
            if self.harness.cancelled.contains(id) { self.end(id) }
            self.pump()
        }
        self.harness.refresh()
        self.pump()
        self.pass(.seconds(120))
    }

    // MARK: What happens

    private mutating func turn(to world: TakeoverWorld) {
        // Until somebody has seen the whole policy a partial view is all there is.
        if world == .policy, !self.harness.machine.standings[0].isStrong { return }
        self.note { _ in "it is \(world)" }
        self.world = world
        for member in self.harness.machine.members {
            // Who polls learns of it later.
            guard self.actors[member.id]?.isPartial == false || Bool.random(using: &self.generator) else { continue }
            self.read(member.id)
        }
    }

    /// The world changes while somebody is reading, and whoever saw that ends.
    private mutating func overtake(_ id: Int, by world: TakeoverWorld) {
        let others = self.harness.running.subtracting([id]).sorted()
        guard let other = others.randomElement(using: &self.generator) else { return }
        self.actors[other]?.isSlow = true
        self.read(other)
        self.turn(to: world)
        self.pump()
        self.kill(id)
    }

    private mutating func kill(_ id: Int) {
        // One that is held up cannot end.
        if self.actors[id]?.heldUntil == nil { self.end(id) }
    }

    private mutating func end(_ id: Int) {
        guard self.harness.running.contains(id) else { return }
        self.actors[id]?.heldUntil = nil
        self.actors[id]?.reading = nil
        self.actors[id]?.isAsked = false
        self.note { _ in "\(id) ends" }
        self.harness.end(id, jitter: Double.random(in: 0..<1, using: &self.generator))
        self.check()
    }

    private mutating func recover(_ id: Int) {
        self.actors[id]?.isWedged = false
        self.actors[id]?.lacksVerdict = false
        self.read(id)
    }

    /// A subscriber does not return for a while.
    private mutating func hold(_ id: Int) {
        guard self.harness.running.contains(id), let actor = self.actors[id], actor.heldUntil == nil,
            actor.reading == nil
        else { return }
        self.note { _ in "a subscriber holds \(id)" }
        self.harness.hold(id)
        let delay = Duration.milliseconds(Int.random(in: 0..<15_000, using: &self.generator))
        self.actors[id]?.heldUntil = self.harness.now + delay
    }

    private mutating func configure() {
        self.settings.merge = MergePolicy.allCases[Int.random(in: 0..<4, using: &self.generator)]
        for index in self.names.indices.dropFirst() {
            self.names[index].mode = BackendMode.allCases[Int.random(in: 0..<3, using: &self.generator)]
        }
        let before = self.harness.machine.members.map(\.id)
        let kept = self.names.map(\.name).filter { _ in Bool.random(using: &self.generator) }
        let after = self.harness.apply(self.names, settings: self.settings, keeping: Set(kept))
        // The successor is of the same kind and starts well.
        for (old, new) in zip(before, after) where old != new {
            let former = self.actors[old]
            self.actors[new] = Actor(
                isPartial: former?.isPartial ?? false,
                isStating: former?.isStating ?? false
            )
            self.oracle.succeed(old, by: new)
        }
        self.oracle.configured()
        self.note { "configured: \($0.names), \($0.settings.merge), numbers \(after)" }
        self.check()
    }

    // MARK: Reading

    /// Begins a reading, or notes that one has to follow.
    private mutating func read(_ id: Int) {
        guard self.harness.running.contains(id), let actor = self.actors[id], !actor.isWedged else { return }
        guard actor.reading == nil, actor.heldUntil == nil else {
            self.actors[id]?.isAsked = true
            return
        }
        self.actors[id]?.isAsked = false
        // No two readings begin at the same moment.
        self.harness.sleep(for: .nanoseconds(1))
        let now = self.harness.now
        let duration = actor.isSlow ? Duration.milliseconds(Int.random(in: 0..<4_000, using: &self.generator)) : .zero
        let reading = Reading(
            began: now,
            ends: now + duration,
            generation: self.harness.generations[id],
            world: self.world,
            evidence: actor.isStating
                ? self.world.stated(isNaming: id.isMultiple(of: 2), lacksVerdict: actor.lacksVerdict, at: now)
                : self.world.seen(isPartial: actor.isPartial, lacksVerdict: actor.lacksVerdict, at: now)
        )
        if duration > .zero { self.actors[id]?.reading = reading } else { self.tell(id, reading) }
    }

    private mutating func tell(_ id: Int, _ reading: Reading) {
        self.actors[id]?.reading = nil
        self.note { _ in "\(id) tells of \(reading.world) as of \(reading.began - CoordinatorHarness.origin)" }
        self.harness.report(id, reading.evidence, generation: reading.generation)
        self.oracle.heard(id, reading, self.harness)
        self.check()
        if self.actors[id]?.isAsked == true { self.read(id) }
    }

    // MARK: Time

    private mutating func pass(_ duration: Duration) {
        let end = self.harness.now + duration
        while true {
            let busy = self.actors.keys.sorted().compactMap { id in
                self.actors[id].flatMap { $0.heldUntil ?? ($0.isWedged ? nil : $0.reading?.ends) }.map { (id, $0) }
            }
            let nextOfActors = busy.min { $0.1 < $1.1 }
            let deadlines = [self.harness.machine.nextDeadline, nextOfActors?.1].compactMap { $0 }
            guard let deadline = deadlines.min(), deadline <= end else { break }
            self.harness.advance(by: max(.zero, deadline - self.harness.now))
            self.check()
            if let (id, due) = nextOfActors, due <= self.harness.now { self.goOn(id) }
            self.pump()
        }
        self.harness.advance(by: end - self.harness.now)
    }

    /// A reading has ended, or a subscriber has returned.
    private mutating func goOn(_ id: Int) {
        if self.actors[id]?.heldUntil != nil {
            self.actors[id]?.heldUntil = nil
            self.harness.release(id)
            if self.actors[id]?.isAsked == true { self.read(id) }
            // What was cancelled meanwhile ends now.
            if self.harness.cancelledRuns[id] == self.harness.generations[id] { self.kill(id) }
        } else if let reading = self.actors[id]?.reading {
            self.tell(id, reading)
        }
    }

    /// Lets the backends do what was asked of them, until nothing more is.
    private mutating func pump() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for id in self.harness.running.sorted() {
                let generation = self.harness.generations[id]
                guard self.handled.started.updateValue(generation, forKey: id) != generation else { continue }
                isBusy = true
                self.read(id)
            }
            while self.handled.cancelled < self.harness.cancelled.count {
                let id = self.harness.cancelled[self.handled.cancelled]
                self.handled.cancelled += 1
                isBusy = true
                if self.actors[id]?.ignoresCancellation == false { self.kill(id) }
            }
            while self.handled.refreshed < self.harness.refreshed.count {
                let id = self.harness.refreshed[self.handled.refreshed]
                self.handled.refreshed += 1
                isBusy = true
                self.read(id)
            }
        }
        self.check()
    }

    private mutating func check() {
        let held = self.actors.filter { $0.value.heldUntil != nil }.map(\.key)
        for lie in self.oracle.check(self.harness, held: held) {
            self.lies.append("\(lie); \(self.summary)")
        }
    }

    private mutating func note(_ event: (TakeoverWalk) -> String) {
        guard self.isTold else { return }
        self.history.append("\(self.harness.elapsed): \(event(self)); so far \(self.world), path \(self.pathInWords)")
    }
}
