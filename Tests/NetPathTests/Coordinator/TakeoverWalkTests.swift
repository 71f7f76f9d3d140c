// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// Backends that are killed, wedged, starved, stopped and configured anew at random in a world that is known.
///
/// The oracle knows nothing of the rules: a path may be lowered to `unsatisfied` only if a healthy backend's latest
/// word was read while the world was really offline, and once everybody is well again the path is the world's.
@Suite struct TakeoverWalkTests {
    /// 250 walks of 200 steps; a failure prints the seed, which is the argument to repeat it with.
    @Test(arguments: 0..<250)
    func noFalseTransition(seed: UInt64) {
        var walk = TakeoverWalk(seed: seed)
        for step in 0..<200 {
            walk.step()
            guard walk.lies.isEmpty else {
                Issue.record("seed \(seed), step \(step): \(walk.lies[0])")
                return
            }
        }
        walk.settle()
        #expect(walk.lies.isEmpty, "seed \(seed)")
        #expect(walk.harness.path?.isStale == false, "seed \(seed): \(walk.summary)")
        #expect(walk.harness.path?.status == walk.world.status, "seed \(seed): \(walk.summary)")
        let standbys = walk.harness.machine.opinions.filter { $0.report.mode == .standby }
        #expect(standbys.allSatisfy { $0.report.health == .standby }, "seed \(seed): nobody needs them")
    }
}

/// The network as it really is.
private enum World: CaseIterable {
    case first
    case second
    /// A policy rule that a partial view does not show; the interface is well.
    case policy
    case noLink
    case gone

    var status: PathStatus {
        switch self {
        case .first, .second, .policy: .satisfied
        case .noLink, .gone: .unsatisfied
        }
    }

    func seen(partially: Bool, at time: MonotonicTime) -> Observation {
        let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24")
        let eth1 = NetworkInterface.wired("eth1", 3).with("198.51.100.7/24")
        var observation: Observation =
            switch self {
            case .first: .online(eth0)
            case .second: .online(eth1)
            case .policy: partially ? .seeing(.loopback(), eth0) : .online(eth0)
            case .noLink:
                .seeing(.loopback(), eth0.withoutCarrier(), NetworkInterface.wired("eth1", 3).withoutCarrier())
            case .gone: .seeing(.loopback())
            }
        observation.observedAt = time
        observation.isPartial = partially
        return observation
    }
}

private struct TakeoverWalk {
    private struct Actor {
        let isPartial: Bool
        var isWedged = false
        var ignoresCancellation = false
        /// Whether the latest word was read while the world was offline.
        var sawOffline = false
    }

    private(set) var harness: CoordinatorHarness
    private(set) var world = World.first
    private(set) var lies: [String] = []
    private var generator: SeededGenerator
    private var names: [(name: String, mode: BackendMode)]
    private var settings: CoordinatorSettings
    private var actors: [Int: Actor] = [:]
    private var handled = (started: [Int: Int](), refreshed: 0, cancelled: 0, published: 0)

    init(seed: UInt64) {
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
            self.actors[index] = Actor(isPartial: index > 0 && Bool.random(using: &generator))
        }
        self.generator = generator
        self.harness.start()
        self.pump()
    }

    var summary: String {
        let backends = self.harness.machine.opinions.map {
            "\($0.report.name) \($0.report.mode) \($0.report.health) \($0.report.status?.rawValue ?? "nil")"
        }
        return "\(self.settings.merge), \(self.world), \(backends), path \(self.harness.path?.status.rawValue ?? "nil")"
    }

    mutating func step() {
        let ids = self.harness.machine.members.map(\.id)
        let id = ids[Int.random(in: 0..<ids.count, using: &self.generator)]
        switch Int.random(in: 0..<20, using: &self.generator) {
        case 0...3: self.turn(to: World.allCases[Int.random(in: 0..<5, using: &self.generator)])
        case 4...7: if self.harness.running.contains(id) { self.kill(id) }
        case 8: self.actors[id]?.isWedged = true
        case 9: self.recover(id)
        case 10: self.actors[id]?.ignoresCancellation.toggle()
        case 11: self.say(id)
        case 12: self.harness.report(id, World.gone.seen(partially: false, at: self.harness.now), generation: 0)
        case 13: self.harness.refresh()
        case 14:
            self.harness.sleep(for: .seconds(Int.random(in: 0..<100, using: &self.generator)))
            self.harness.wake()
        case 15: self.configure()
        case 16: self.pass(.seconds(Int.random(in: 1..<20, using: &self.generator)))
        default: self.pass(.milliseconds(Int.random(in: 1..<1_200, using: &self.generator)))
        }
        self.pump()
    }

    /// Makes everybody well, and lets time pass.
    mutating func settle() {
        for id in self.actors.keys.sorted() {
            self.actors[id]?.ignoresCancellation = false
            self.recover(id)
            // Who was cancelled and did not care ends at last.
            if self.harness.cancelled.contains(id), self.harness.running.contains(id) { self.harness.end(id) }
            self.pump()
        }
        self.harness.refresh()
        self.pump()
        self.pass(.seconds(120))
    }

    private mutating func turn(to world: World) {
        self.world = world
        for member in self.harness.machine.members {
            // Who polls learns of it later.
            guard self.actors[member.id]?.isPartial == false || Bool.random(using: &self.generator) else { continue }
            self.say(member.id)
        }
    }

    private mutating func say(_ id: Int) {
        guard self.harness.running.contains(id), let actor = self.actors[id], !actor.isWedged else { return }
        self.actors[id]?.sawOffline = self.world.status == .unsatisfied
        self.harness.report(id, self.world.seen(partially: actor.isPartial, at: self.harness.now))
        self.check()
    }

    private mutating func kill(_ id: Int) {
        self.harness.end(id, jitter: Double.random(in: 0..<1, using: &self.generator))
        self.check()
    }

    private mutating func recover(_ id: Int) {
        self.actors[id]?.isWedged = false
        self.say(id)
    }

    private mutating func configure() {
        self.settings.merge = MergePolicy.allCases[Int.random(in: 0..<4, using: &self.generator)]
        for index in self.names.indices.dropFirst() {
            self.names[index].mode = BackendMode.allCases[Int.random(in: 0..<3, using: &self.generator)]
        }
        let before = self.harness.machine.members.map(\.id)
        let kept = self.names.map(\.name).filter { _ in Bool.random(using: &self.generator) }
        let after = self.harness.apply(self.names, settings: self.settings, keeping: Set(kept))
        // The successor is of the same kind and starts well; its first word is its own.
        for (old, new) in zip(before, after) where old != new {
            let predecessor = self.actors[old]
            var successor = Actor(isPartial: predecessor?.isPartial ?? false)
            successor.sawOffline = predecessor?.sawOffline ?? false
            self.actors[new] = successor
        }
        self.check()
    }

    private mutating func pass(_ duration: Duration) {
        let end = self.harness.now + duration
        while let deadline = self.harness.machine.nextDeadline, deadline <= end {
            self.harness.advance(by: max(.zero, deadline - self.harness.now))
            self.check()
            self.pump()
        }
        self.harness.advance(by: end - self.harness.now)
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
                self.say(id)
            }
            while self.handled.cancelled < self.harness.cancelled.count {
                let id = self.harness.cancelled[self.handled.cancelled]
                self.handled.cancelled += 1
                isBusy = true
                if self.actors[id]?.ignoresCancellation == false, self.harness.running.contains(id) { self.kill(id) }
            }
            while self.handled.refreshed < self.harness.refreshed.count {
                let id = self.harness.refreshed[self.handled.refreshed]
                self.handled.refreshed += 1
                isBusy = true
                self.say(id)
            }
        }
        self.check()
    }

    /// Whether what was published since the last look can be accounted for.
    private mutating func check() {
        let fresh = self.harness.published.dropFirst(self.handled.published)
        let before = self.harness.published.prefix(self.handled.published).last?.status
        self.handled.published = self.harness.published.count
        for path in fresh where path.status == .unsatisfied && before != .unsatisfied {
            let isSeen = zip(self.harness.machine.members, self.harness.machine.opinions).contains { member, opinion in
                opinion.report.health == .healthy && self.actors[member.id]?.sawOffline == true
            }
            if !isSeen { self.lies.append("\(path.reason): \(self.summary)") }
        }
    }
}
