// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a captive portal that a probe met may do to the status of a path.
public enum PortalInfluence: String, Hashable, Sendable, CaseIterable, Codable {
    /// It sets ``NetworkPath/internet``, and the status only as ``ProbeInfluence`` says.
    case advisory
    /// The path is `requiresConnection` (``PathReason/Code/captivePortal``) until the user has signed in.
    case requiresConnection
}

extension PathReason {
    /// Why there is no path where probes decide, and a captive portal answered.
    static let portalAnswered = PathReason(.probeFailed, "a captive portal answered in place of the probe targets")
}

extension NetworkPath {
    /// The path as the configuration lets probes and portals decide on it.
    func judged(by probes: ProbeInfluence, _ portals: PortalInfluence) -> NetworkPath {
        if portals == .requiresConnection, self.isHeldByPortal {
            var path = self
            path.status = .requiresConnection
            path.reason = PathReason(.captivePortal, "a captive portal waits for the user to sign in")
            path.statedBy = nil
            return path
        }
        return probes == .required ? self.requiringProbes : self
    }

    /// Whether nothing but a portal is between this machine and the internet.
    private var isHeldByPortal: Bool {
        self.internet == .portal && (self.status == .satisfied || self.reason.code == .probeFailed)
    }
}
