// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

/// What a history tells of a path; a replay tells everything.
package struct RecordedPath: Hashable, Sendable, Codable {
    package var status: PathStatus
    package var reason: PathReason
    package var isStale: Bool
    package var internet: InternetReachability
    /// The interface that carries it; nil without a path, where the reason names the one that matters.
    package var interface: String?
    package var type: InterfaceType?

    /// Takes from a path what counts.
    package init(_ path: NetworkPath) {
        self.status = path.status
        self.reason = path.reason
        self.isStale = path.isStale
        self.internet = path.internet
        let carrier = path.status == .satisfied ? path.interfaces.first : nil
        self.interface = carrier?.name
        self.type = carrier?.type
    }
}
