// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Whether a path to the network exists, in the terms of Apple's `NWPath.Status`.
///
/// Ordered: unsatisfied < requiresConnection < satisfied.
public enum PathStatus: String, Sendable, Hashable, CaseIterable, Comparable, Codable {
    /// There is no usable path.
    case unsatisfied
    /// There is none now, but a step that is pending or can be started may bring one.
    case requiresConnection
    /// There is a usable path.
    case satisfied

    private var rank: Int {
        switch self {
        case .unsatisfied: 0
        case .requiresConnection: 1
        case .satisfied: 2
        }
    }

    /// Whether the left status is worse than the right one.
    public static func < (left: PathStatus, right: PathStatus) -> Bool { left.rank < right.rank }
}
