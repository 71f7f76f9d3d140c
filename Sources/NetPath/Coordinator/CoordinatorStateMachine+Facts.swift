// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What backends state of interfaces that others see.
extension CoordinatorStateMachine {
    /// Hands what backends state of interfaces to those that see them, and judges anew what that changes.
    ///
    /// Facts count as long as the backend that states them is healthy.
    mutating func shareFacts(now: MonotonicTime) {
        // By position, as in every event.
        let isAnyStated = self.members.indices.contains { self.members[$0].facts != nil }
        guard isAnyStated || self.statements != nil else { return }
        var statements: [InterfaceStatement] = []
        for index in self.members.indices {
            // The successor of one that is replaced has its facts until it has reported.
            guard let facts = self.members[index].facts,
                [.healthy, .starting].contains(self.snapshots[index].report.health)
            else { continue }
            statements += facts.map { InterfaceStatement(by: self.snapshots[index].report.name, $0) }
        }
        guard statements != self.statements ?? [] else { return }
        self.statements = statements.isEmpty ? nil : statements
        self.snapshotsVersion += 1
        for index in self.members.indices where self.snapshots[index].evidence != nil {
            self.snapshots[index].evidence?.statements = statements
            self.evaluate(index, now: now)
        }
    }
}
