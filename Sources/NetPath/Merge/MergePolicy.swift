// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How the verdicts of several backends become one path.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable, Codable {
    /// The first healthy backend in list order that has a verdict decides.
    case priority
    /// The worst verdict decides: every backend has to agree that there is a path.
    case unanimous
    /// The best verdict decides: one backend suffices.
    case any
    /// The lower median of the verdicts decides.
    case majority
}
