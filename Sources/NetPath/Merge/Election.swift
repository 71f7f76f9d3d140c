// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Which backends vote on the status, and which one's path is published.
struct Election: Hashable {
    /// The status that wins.
    let status: PathStatus
    /// The position of the first voter with that status; the details of the path are its.
    let winner: Int
    /// The positions of the backends that vote, in order of priority.
    let voters: [Int]

    /// Counts the votes; nil when no backend may vote.
    ///
    /// A backend that is not healthy does not vote: its failure never means offline. A probe votes only where no
    /// backend sees or states paths, and does not replace one that failed. The same goes for what another machine
    /// states, and only with required probes. A partial no does not count below `strongest`, the position of the first
    /// backend that ever had a verdict.
    init?(_ snapshots: [BackendSnapshot], policy: MergePolicy, probes: ProbeInfluence, strongest: Int?) {
        let hasPathBackend = snapshots.indices.contains { snapshots[$0].reportsPaths }
        func isEligible(_ position: Int) -> Bool {
            hasPathBackend
                ? snapshots[position].reportsPaths
                : probes == .required || snapshots[position].verdict?.host == nil
        }
        let first = snapshots.indices.first { isEligible($0) && snapshots[$0].verdict?.status != nil }
        var rank = first ?? snapshots.count
        if let strongest, isEligible(strongest) { rank = min(rank, strongest) }
        let voters = snapshots.indices.filter { position in
            guard isEligible(position), snapshots[position].report.health == .healthy,
                let isPartialNo = snapshots[position].verdict?.isPartialNo
            else { return false }
            return position <= rank || !isPartialNo
        }
        guard let first = voters.first.flatMap({ snapshots[$0].verdict?.status }) else { return nil }
        // Sorted only where the order matters.
        let statuses = policy == .priority ? [first] : voters.compactMap { snapshots[$0].verdict?.status }.sorted()
        let status =
            switch policy {
            case .priority, .unanimous: statuses.first ?? first
            case .any: statuses.last ?? first
            case .majority: statuses[(statuses.count - 1) / 2]
            }
        guard let winner = voters.first(where: { snapshots[$0].verdict?.status == status }) else { return nil }
        self.status = status
        self.winner = winner
        self.voters = voters
    }
}
