// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// A backend or several break at random moments of a walk, and come back at random moments.
struct ChaosRun: Sendable {
    /// The backends that may break; the others keep working.
    var victims: [String]
    var backends: @Sendable (_ options: String) -> String
    var cycles: Int

    /// - Returns: How often another backend than netlink had the word.
    /// - Throws: ``WalkFailure`` when a status is published that was never true, or the program does not find back.
    func take(seed: UInt64) throws -> Int {
        // What sysfs cannot see it cannot tell when it has taken over.
        let walk = Walk(seed: seed, length: self.cycles * 3, isPlain: true)
        var numbers = SeededGenerator(seed: seed &+ 1 << 32)
        var steps = walk.steps[...]
        var lab = try ChaosLab(walk.preparation, backends: self.backends)
        defer { lab.network.lab.close() }
        try lab.settle()
        for _ in 0..<self.cycles {
            // A change before, while and after it is broken, or at some of these times.
            try self.maybe(&steps, &lab, &numbers)
            for victim in self.victims where self.victims.count == 1 || Bool.random(using: &numbers) {
                lab.order("\(victim) \(Self.harms.randomElement(using: &numbers) ?? "kill")")
                Self.pause(&numbers)
            }
            try self.maybe(&steps, &lab, &numbers)
            Self.pause(&numbers)
            for victim in self.victims.shuffled(using: &numbers) { lab.order("\(victim) work") }
            try self.maybe(&steps, &lab, &numbers)
            try lab.settle()
        }
        try lab.end()
        return lab.takeovers
    }

    static let harms = ["kill", "kill", "fail", "fail", "wedge", "starve 30", "starve 400", "starve 1500"]

    private func maybe(
        _ steps: inout ArraySlice<Walk.Step>,
        _ lab: inout ChaosLab,
        _ numbers: inout SeededGenerator
    ) throws {
        // Steps are taken in order, each when its turn comes or a while later.
        guard Int.random(in: 0..<3, using: &numbers) > 0, let step = steps.popFirst() else { return }
        try lab.take(step)
    }

    /// Lets some time pass, since what happens depends on when; nothing waits for anything here.
    private static func pause(_ numbers: inout SeededGenerator) {
        let longest: Double = [0.0, 0.02, 0.3, 1.5].randomElement(using: &numbers) ?? 0
        if longest > 0 { Thread.sleep(forTimeInterval: Double.random(in: 0...longest, using: &numbers)) }
    }
}
