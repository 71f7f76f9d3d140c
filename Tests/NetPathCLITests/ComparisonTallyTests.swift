// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// Scripted histories: what each backend says at which millisecond.
@Suite struct ComparisonTallyTests {
    private enum Word: CaseIterable {
        case yes
        case no
        case otherNo
        case pending
        case nothing

        var verdict: Verdict? {
            switch self {
            case .yes: Verdict(.satisfied, PathReason(.routed, ""))
            case .no: Verdict(.unsatisfied, PathReason(.noCarrier, ""))
            case .otherNo: Verdict(.unsatisfied, PathReason(.probeFailed, ""))
            case .pending: Verdict(.requiresConnection, PathReason(.configuringAddress, ""))
            case .nothing: nil
            }
        }
    }

    private typealias Event = (at: Int, backend: String, word: Word)

    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds)
    }

    private func tally(_ events: [Event]) -> ComparisonTally {
        var tally = ComparisonTally()
        for event in events { tally.record(event.backend, event.word.verdict, at: Self.time(event.at)) }
        return tally
    }

    /// What is counted of each backend: seen, missed, median delay in milliseconds, false, for another reason.
    private func summary(_ events: [Event], at end: Int = 60_000) -> (changes: Int, counts: [String: [Int?]]) {
        let (changes, backends) = self.tally(events).counts(at: Self.time(end))
        let counts = backends.map { name, counts -> (String, [Int?]) in
            let delay = counts.medianDelay.map { Int($0 / .milliseconds(1)) }
            return (name, [counts.seen, counts.missed, delay, counts.falseTransitions, counts.otherReasons])
        }
        return (changes, Dictionary(uniqueKeysWithValues: counts))
    }

    private static let start: [Event] = [(0, "a", .yes), (3, "b", .yes)]

    @Test func firstWordsAreNoChange() {
        let result = self.summary(Self.start)
        #expect(result.changes == 0)
        #expect(result.counts == ["a": [0, 0, nil, 0, 0], "b": [0, 0, nil, 0, 0]])
        let tally = self.tally(Self.start)
        #expect(tally.delay(of: "a") == .zero)
        #expect(tally.delay(of: "b") == .milliseconds(3))
        #expect(tally.delay(of: "c") == nil)
    }

    @Test func laterOneIsBehindTheFirst() {
        let events = Self.start + [(100, "a", .no), (130, "b", .no), (500, "b", .yes), (510, "a", .yes)]
        let result = self.summary(events)
        #expect(result.changes == 2)
        #expect(result.counts == ["a": [2, 0, 0, 0, 0], "b": [2, 0, 0, 0, 0]])
        #expect(self.tally(events).delay(of: "a") == .milliseconds(10))
        #expect(self.tally(events).delay(of: "b") == .zero)
    }

    @Test func anotherReasonIsTheSameChange() {
        let result = self.summary(Self.start + [(100, "a", .no), (900, "b", .otherNo), (901, "b", .no)])
        #expect(result.changes == 1)
        #expect(result.counts == ["a": [1, 0, 0, 0, 0], "b": [1, 0, 800, 0, 1]])
    }

    @Test func changeIsMissedOnceTheWindowIsOver() {
        let events = Self.start + [(100, "a", .no)]
        #expect(self.summary(events, at: 5_100).counts["b"] == [0, 0, nil, 0, 0])
        #expect(self.summary(events, at: 5_101).counts["b"] == [0, 1, nil, 0, 0])
        #expect(self.tally(events).delay(of: "b") == nil)
        // Late, but nothing has happened since.
        #expect(self.summary(events + [(9_100, "b", .no)]).counts["b"] == [1, 0, 9_000, 0, 0])
    }

    @Test func briefChangeThatNobodyElseLookedAtIsMissed() {
        let result = self.summary(Self.start + [(100, "a", .no), (200, "a", .yes), (300, "b", .yes)])
        #expect(result.changes == 2)
        #expect(result.counts == ["a": [2, 0, 0, 0, 0], "b": [0, 2, nil, 0, 0]])
    }

    @Test func slowOneFollowsWhatIsOverAlready() {
        let events = Self.start + [(100, "a", .no), (200, "a", .yes), (250, "b", .no), (260, "b", .yes)]
        #expect(self.summary(events).counts == ["a": [2, 0, 0, 0, 0], "b": [2, 0, 60, 0, 0]])
        // Too late: it is a change of its own, which the other would have to notice.
        let late = Self.start + [(100, "a", .no), (200, "a", .yes), (9_000, "b", .no)]
        #expect(self.summary(late).counts == ["a": [2, 1, 0, 0, 0], "b": [1, 2, 0, 0, 0]])
    }

    @Test func contradictedAndTakenBackIsFalse() {
        let events = Self.start + [(100, "a", .no), (120, "b", .yes), (300, "a", .yes)]
        let result = self.summary(events)
        #expect(result.changes == 0)
        #expect(result.counts == ["a": [0, 0, nil, 1, 0], "b": [0, 0, nil, 0, 0]])
        #expect(self.tally(events).delay(of: "a") == .zero)
        // A lasting disagreement is none, nor is what a third one shares.
        #expect(self.summary(Self.start + [(100, "a", .no), (120, "b", .yes), (9_000, "a", .yes)]).changes == 2)
        let shared: [Event] = [(4, "c", .yes), (100, "a", .no), (110, "c", .no), (120, "b", .yes), (300, "a", .yes)]
        #expect(self.summary(Self.start + shared).counts["a"] == [2, 0, 0, 0, 0])
    }

    @Test func changeBeforeAFalseTransitionIsStillTheLatest() {
        let events: [Event] = [
            (4, "c", .yes), (100, "b", .no), (200, "a", .pending), (210, "c", .yes), (300, "a", .yes), (400, "a", .no),
        ]
        let result = self.summary(Self.start + events)
        #expect(result.changes == 1)
        #expect(result.counts["a"] == [1, 0, 300, 1, 0])
        #expect(result.counts["b"] == [1, 0, 0, 0, 0])
    }

    @Test func withoutAnOpinionNothingIsMissed() {
        let gone = Self.start + [(50, "b", .nothing), (100, "a", .no)]
        #expect(self.summary(gone).counts["b"] == [0, 0, nil, 0, 0])
        #expect(self.summary(gone + [(150, "b", .no)]).counts["b"] == [1, 0, 50, 0, 0])
    }

    // MARK: Properties

    private static func history(_ seed: UInt64, backends: [String]) -> [Event] {
        var generator = SeededGenerator(seed: seed)
        var time = 0
        return (0..<200).map { _ in
            time += Int.random(in: 50..<3_000, using: &generator)
            let backend = backends.randomElement(using: &generator) ?? "a"
            return (time, backend, Word.allCases.randomElement(using: &generator) ?? .yes)
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func nobodySeesMoreThanThereWas(seed: UInt64) {
        let events = Self.history(seed, backends: ["a", "b", "c"])
        let (changes, backends) = self.tally(events).counts(at: Self.time(1_000_000))
        for (_, counts) in backends {
            #expect(counts.seen + counts.missed <= changes)
            #expect(counts.delays.allSatisfy { $0 >= .zero })
            #expect(counts.otherReasons <= counts.seen)
        }
        // Somebody was first, each time.
        #expect(backends.reduce(0) { $0 + $1.value.delays.count { $0 == .zero } } >= changes)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func echoMissesNothingAndIsBehindByItsDelay(seed: UInt64) {
        let events = Self.history(seed, backends: ["a"]).filter { $0.word != .nothing }
        let echo = events.map { (at: $0.at + 40, backend: "b", word: $0.word) }
        let both = (events + echo).enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        let result = self.summary(both.map(\.element), at: 1_000_000)
        #expect(result.changes > 0)
        #expect(result.counts["a"] == [result.changes, 0, 0, 0, 0])
        #expect(result.counts["b"]?.prefix(4) == [result.changes, 0, 40, 0])
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func deafOneMissesEverything(seed: UInt64) {
        let events = [(0, "b", Word.yes)] + Self.history(seed, backends: ["a"]).filter { $0.word != .nothing }
        let result = self.summary(events, at: 1_000_000)
        #expect(result.counts["a"]?.prefix(2) == [result.changes, 0])
        #expect(result.counts["b"]?.prefix(2) == [0, result.changes])
    }
}
