// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension CoordinatorStateMachine {
    /// Whether packets through an interface, or the way that the published path takes, are expensive or constrained.
    ///
    /// - Parameter interface: The name of the interface; nil for the path.
    /// - Returns: Whether they are; of an interface as the first healthy backend sees it, false where none does.
    func isMetered(through interface: String?) -> Bool {
        guard let interface else {
            return self.published.map { $0.value.isExpensive || $0.value.isConstrained } ?? false
        }
        for position in self.snapshots.indices where self.snapshots[position].report.health == .healthy {
            let seen = self.snapshots[position].evidence?.ofThisMachine.interfaces?.first { $0.name == interface }
            guard let seen else { continue }
            let rule = self.settings.evaluation.interfaceRules.first { $0.match.fits(seen) }
            let isExpensive = rule?.isExpensive ?? seen.isExpensive ?? ((rule?.type ?? seen.type) == .cellular)
            return isExpensive || rule?.isConstrained == true
        }
        return false
    }
}
