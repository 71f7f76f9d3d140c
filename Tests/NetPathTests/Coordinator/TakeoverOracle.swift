// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

@testable import NetPath

/// Whether what is published during a walk can be accounted for; knows nothing of the rules.
///
/// A status may change only to what a backend with a verdict has read of the world itself. Where nobody is left of those
/// whose word the last one was, that reading has to be no older than theirs; and where priority decides, one that stands
/// in for a backend of higher priority has to have begun after that one lost its verdict.
struct TakeoverOracle {
    private struct Word {
        var status: PathStatus
        var began: MonotonicTime
    }

    private struct Witness {
        var word: Word
        var lostAt: MonotonicTime?
    }

    /// What each backend read last of what it has told.
    private var words: [Int: Word] = [:]
    /// Whose word the last status was.
    private var witnesses: [Int: Witness] = [:]
    /// Who was found at fault before.
    private var wasSilent: Set<Int> = []
    private var published = 0
    private var status: PathStatus?

    /// A word was told; it counts when the coordinator took it.
    mutating func heard(_ id: Int, _ reading: TakeoverWalk.Reading, _ harness: CoordinatorHarness) {
        guard let position = harness.machine.position(of: id),
            harness.machine.snapshots[position].report.reportedAt == harness.now
        else { return }
        self.words[id] = Word(status: reading.world.status, began: reading.began)
    }

    /// Another backend answers for the last word of one.
    mutating func succeed(_ former: Int, by successor: Int) { self.words[successor] = self.words[former] }

    /// Whoever is not there any more, or decides by another policy, needs no account.
    mutating func configured() { self.witnesses = [:] }

    /// Looks for what cannot be accounted for of what was published since the last look.
    ///
    /// - Parameters:
    ///   - harness: The coordinator.
    ///   - held: Those that subscribers keep inside `report`.
    /// - Returns: What is found.
    mutating func check(_ harness: CoordinatorHarness, held: [Int]) -> [String] {
        var lies: [String] = []
        for id in held {
            guard let position = harness.machine.position(of: id) else { continue }
            let report = harness.machine.snapshots[position].report
            if report.error?.contains("did not") == true, !self.wasSilent.contains(id) {
                lies.append("\(report.name) is inside a report and taken for silent")
            }
        }
        self.wasSilent = Set(
            zip(harness.machine.members, harness.machine.snapshots)
                .filter { $1.report.error != nil }.map(\.0.id)
        )
        let voices = zip(harness.machine.members, harness.machine.snapshots).enumerated()
            .filter { $0.element.1.report.hasVerdict }.map { (position: $0.offset, id: $0.element.0.id) }
        for id in self.witnesses.keys {
            let isLost = !voices.contains { $0.id == id }
            let lostAt = self.witnesses[id]?.lostAt
            self.witnesses[id]?.lostAt = isLost ? lostAt ?? harness.now : nil
        }
        for path in harness.published.dropFirst(self.published) where path.status != self.status {
            let isSeen = voices.contains { self.justifies($0.id, at: $0.position, path.status, harness) }
            if !isSeen { lies.append("\(path.reason)") }
            self.status = path.status
            self.witnesses = [:]
        }
        self.published = harness.published.count
        guard harness.path?.isStale == false else { return lies }
        // Of those who confirm the status the newest words count.
        var witnesses: [Int: Witness] = [:]
        for (_, id) in voices {
            if let word = self.words[id], word.status == self.status { witnesses[id] = Witness(word: word) }
        }
        if !witnesses.isEmpty { self.witnesses = witnesses }
        return lies
    }

    private func justifies(_ id: Int, at position: Int, _ status: PathStatus, _ harness: CoordinatorHarness) -> Bool {
        guard let word = self.words[id], word.status == status else { return false }
        // As long as one of them can still speak, the policy weighs its word against the others'.
        guard self.witnesses.values.allSatisfy({ $0.lostAt != nil }) else { return true }
        return self.witnesses.allSatisfy { witness, its in
            guard word.began >= its.word.began else { return false }
            guard harness.machine.settings.merge == .priority, let lostAt = its.lostAt,
                let other = harness.machine.position(of: witness), other < position
            else { return true }
            return word.began >= lostAt
        }
    }
}
