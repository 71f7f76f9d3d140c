// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

extension PathCoordinator {
    /// The numbers that backends give, in order of priority.
    package var backendMetrics: [(backend: String, metrics: [BackendMetric])] {
        self.state.withLock { state in
            zip(state.machine.members, state.machine.snapshots).compactMap { member, snapshot in
                state.metrics[member.id].map { (snapshot.report.name, $0.metrics) }
            }
        }
    }

    /// Keeps the numbers of a run; what cannot be exported is said once.
    func take(_ metrics: [BackendMetric], of id: Int, generation: Int) {
        let (kept, complaint) = BackendMetric.accepted(metrics)
        let name: String? = self.state.withLock { state in
            guard let link = state.links[id], link.generation == generation, !state.isStopped else { return nil }
            let former = state.metrics.updateValue((kept, complaint), forKey: id)?.complaint
            return former == complaint ? nil : state.backends[id]?.name
        }
        if let name, let complaint { self.log(.warning, "\(name): \(complaint)") }
    }
}
