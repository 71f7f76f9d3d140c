// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How the verdicts of several backends become one path.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
    /// The first healthy backend in list order that has an opinion decides.
    case priority
    /// The worst opinion decides: every backend has to agree that there is a path.
    case unanimous
    /// The best opinion decides: one backend suffices.
    case any
    /// The lower median of the opinions decides.
    case majority
}
