// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// One thing to wait for.
enum WaitCondition: Hashable, Sendable {
    /// The path has this status.
    case status(PathStatus)
    /// There is a path of this family.
    case family(AddressFamily)
    /// An interface whose name fits carries the path, or could, for each of these families.
    case interface(GlobPattern, Set<AddressFamily>)
    /// An interface of this type does.
    case type(InterfaceType, Set<AddressFamily>)
    /// There is a path, and a name server that packets would be sent to.
    case dns
    /// There is a path, and a probe was answered, or a backend states that the internet can be reached.
    case internet
    /// Packets to the host would be sent; with a port, a TCP connection can be made.
    case host(HostTarget)

    /// The name of the option, and what was given with it.
    var words: (name: String, value: String?) {
        switch self {
        case .status(let status): ("status", status.rawValue)
        case .family(let family): ("family", family.rawValue)
        case .interface(let pattern, _): ("interface", pattern.description)
        case .type(let type, _): ("type", type.rawValue)
        case .dns: ("dns", nil)
        case .internet: ("internet", nil)
        case .host(let target): ("host", target.text + (target.port.map { ":\($0)" } ?? ""))
        }
    }

    /// The condition for people.
    var description: String { self.words.name + (self.words.value.map { " \($0)" } ?? "") }

    /// Whether the condition is met; nil when that is unknown.
    func isMet(in view: WaitView) -> Bool? {
        if case .host(let target) = self { return view.hosts[target]?.isReached }
        // A stale path is not known to hold.
        guard let path = view.path, !path.isStale else { return nil }
        return switch self {
        case .status(let status): path.status == status
        case .family(let family): path.status == .satisfied && path.supports(family)
        case .interface(let pattern, let families):
            path.carriers.contains { pattern.matches($0.name) && $0.supports(families) }
        case .type(let type, let families): path.carriers.contains { $0.type == type && $0.supports(families) }
        case .dns: path.supportsDNS
        case .internet: path.status == .satisfied && path.internet == .reachable
        case .host: nil
        }
    }

    /// Whether an interface counts, where only some do.
    func concerns(_ name: String, _ type: InterfaceType) -> Bool {
        switch self {
        case .interface(let pattern, _): pattern.matches(name)
        case .type(let wanted, _): type == wanted
        case .status, .family, .dns, .internet, .host: true
        }
    }

    /// Whether it takes a path to meet the condition, so that it never will be where nothing can come up.
    var needsPath: Bool { if case .status(let status) = self { status == .satisfied } else { true } }
}

/// What is known of a host that is waited for.
struct WaitedHost: Hashable, Sendable {
    /// Whether it can be reached; nil when that is unknown.
    var isReached: Bool?
    /// Why, for people.
    var reason: String

    /// Takes whether packets to it would be sent.
    init(_ status: HostStatus) {
        if case .unknown = status { self.isReached = nil } else { self.isReached = status.isReachable }
        self.reason = status.reason.message
    }

    /// Takes what came of connecting; nil before the first attempt has ended.
    init(_ target: HostTarget, _ outcome: ProbeOutcome?) {
        let name = target.text + (target.port.map { " port \($0)" } ?? "")
        switch outcome?.result {
        case nil where target.isName:
            // The probe tells of neither before it has an outcome.
            let port = target.port.map { "port \($0)" } ?? "it"
            (self.isReached, self.reason) = (nil, "\(target.text) is being looked up, or \(port) has not answered yet")
        case nil: (self.isReached, self.reason) = (nil, "\(name) has not answered yet")
        case .connected: (self.isReached, self.reason) = (true, "\(name) accepts connections")
        case .refused: (self.isReached, self.reason) = (false, "\(name) refuses connections: no program listens there")
        case .unreachable: (self.isReached, self.reason) = (false, "\(name) is not reachable")
        case .timedOut: (self.isReached, self.reason) = (false, "\(name) does not answer")
        case .notResolved: (self.isReached, self.reason) = (nil, "\(target.text) cannot be looked up")
        case .portal, .impersonated, .expected, .unexpected:
            (self.isReached, self.reason) = (false, "another server answers for \(name)")
        }
    }
}

extension NetworkPath {
    /// The interfaces that carry the path or what it is made of, and those that could.
    var carriers: [PathInterface] {
        let roles: [PathReason.Code] = [.routed, .alternative, .carriesTunnel]
        return self.interfaces.filter { roles.contains($0.reason.code) }
    }

    func supports(_ family: AddressFamily) -> Bool {
        family == .ipv4 ? self.supportsIPv4 : self.supportsIPv6
    }
}

extension PathInterface {
    func supports(_ families: Set<AddressFamily>) -> Bool {
        families.allSatisfy { $0 == .ipv4 ? self.supportsIPv4 : self.supportsIPv6 }
    }
}
