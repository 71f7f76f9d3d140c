// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What probes may do to the status of a path that other backends see.
///
/// Where only probes are configured they decide, whatever this says.
public enum ProbeInfluence: String, Hashable, Sendable, CaseIterable {
    /// They set ``NetworkPath/internet`` and nothing else.
    case advisory
    /// A path is satisfied only as long as no completed round has failed; the status, its reason and
    /// ``NetworkPath/internet`` say the same.
    case required
}
