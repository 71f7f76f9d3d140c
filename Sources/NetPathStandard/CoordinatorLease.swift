// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import Synchronization

/// Keeps the coordinator of the process running for a client that asks it more than paths, until released.
package final class CoordinatorLease: SharedPathListener {
    private let isHeld = Atomic(true)
    private let shared: SharedCoordinator

    /// Starts the coordinator, unless it runs already.
    package init(_ shared: SharedCoordinator = .process) {
        self.shared = shared
        shared.update(self)
    }

    /// The coordinator; nil when released.
    package var coordinator: PathCoordinator? { self.wantsPaths ? self.shared.coordinator : nil }

    /// Waits until the coordinator has something to say, at most for the limit; at once when it has.
    package func waitForPath(within limit: Duration) {
        _ = self.shared.now(within: limit)
    }

    /// Lets the coordinator stop when it has no other listener.
    package func release() {
        guard self.isHeld.exchange(false, ordering: .relaxed) else { return }
        self.shared.update(self)
    }

    package var wantsPaths: Bool { self.isHeld.load(ordering: .relaxed) }
    package func receive(_: PathSnapshot) {}
}
