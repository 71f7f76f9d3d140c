// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension PathCoordinator {
    /// Why the path is what it is, and the latest round trips of the probes: what a page shows besides the path.
    func details(_ evaluation: EvaluationPolicy) -> JSONNode {
        let snapshots = self.snapshots
        let path = self.path
        let snapshot = StatusSnapshot(path: path, backends: snapshots.map(\.report), takenAt: .now())
        let explained = OneShotCommand(snapshots: snapshots, snapshot: snapshot, evaluation: evaluation).explained
        let targets = self.tally?.counts.targets ?? [:]
        return [
            "schema": schemaVersion,
            "explanation": explained.document,
            "probes": .array(
                targets.sorted { $0.key < $1.key }.map { target in
                    [
                        "target": .string(target.key),
                        "roundTripMicroseconds": .array(
                            target.value.latest.map { .optional($0.map { $0.inNanoseconds / 1_000 }) }
                        ),
                    ]
                }
            ),
        ]
    }
}
