// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What probes may do to the status of a path that other backends see.
///
/// Where only probes are configured they decide, whatever this says. What backends state of the internet counts as a
/// probe of theirs does, and so does the conclusion of another machine (``Conclusion/host``), which decides only with
/// ``required``, and only where no backend sees or states a path of this machine.
public enum ProbeInfluence: String, Hashable, Sendable, CaseIterable, Codable {
    /// They set ``NetworkPath/internet`` and nothing else.
    case advisory
    /// A path is satisfied only as long as no completed round has failed; the status, its reason and
    /// ``NetworkPath/internet`` say the same.
    case required
}
