// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Whether anything that is there now can come up, without input and output.
///
/// An interface can come up while it is up with everything it takes, while a step is pending or can be started
/// (``PathStatus/requiresConnection``), and for a while after the wait first saw that it is up and lacks something: a
/// carrier, because a link takes seconds to be negotiated, or an address or a route. One that is administratively down or
/// blocked by a radio switch takes a user or a program to change that, and so does one that is not there.
struct WaitProspects: Sendable {
    /// How long an interface that is up may be without a carrier: negotiation takes a few seconds (NetworkManager waits
    /// six).
    static let carrierPatience: Duration = .seconds(6)

    /// What interfaces lack by their index, and since when as far as the wait saw it.
    private var lacks: [UInt32: (stage: WaitedInterface.Stage, since: MonotonicTime)] = [:]
    private var interfaces: [WaitedInterface] = []
    private var grace: Duration = .zero
    /// Whether the interfaces are known.
    private var isKnown = false

    /// Looks at what there is.
    mutating func update(_ view: WaitView, at now: MonotonicTime) {
        // What would change the statement of a backend that states a path is unknown.
        let seen = view.path.flatMap { $0.isStale || $0.statedBy != nil ? nil : view.interfaces(at: now) }
        self.isKnown = seen != nil
        self.interfaces = seen ?? []
        self.grace = view.policy.configurationGrace
        let former = self.lacks
        self.lacks = [:]
        for interface in self.interfaces {
            let known = former[interface.index].flatMap { $0.stage == interface.stage ? $0 : nil }
            self.lacks[interface.index] = known ?? (stage: interface.stage, since: now)
        }
    }

    /// When an interface loses its prospects, should nothing happen before; nil when none does.
    func nextDeadline(after now: MonotonicTime) -> MonotonicTime? {
        self.interfaces.compactMap { self.end(of: $0) }.filter { $0 > now }.min()
    }

    /// Why conditions can never be met by what is there now; nil when they can, or that is unknown.
    func unmeetableReason(of conditions: WaitConditions, in view: WaitView, at now: MonotonicTime) -> String? {
        // What is there can always end.
        guard self.isKnown, !conditions.isNegated else { return nil }
        let reasons = conditions.list.map { self.unmeetableReason(of: $0, in: view, at: now) }
        switch conditions.combination {
        case .all: return reasons.lazy.compactMap(\.self).first
        case .any: return reasons.contains(nil) ? nil : reasons.lazy.compactMap(\.self).first
        }
    }

    private func unmeetableReason(of condition: WaitCondition, in view: WaitView, at now: MonotonicTime) -> String? {
        guard condition.needsPath, condition.isMet(in: view) != true else { return nil }
        let candidates = self.interfaces.filter { condition.concerns($0.name, $0.type) }
        if candidates.contains(where: { self.canComeUp($0, at: now) }) { return nil }
        if candidates.isEmpty { return condition.missing(in: view, at: now) }
        // More than a few say nothing more.
        let few = candidates.sorted { $0.stage < $1.stage }.prefix(4).map(\.reason)
        return few.joined(separator: "; ")
            + (candidates.count > few.count ? "; and \(candidates.count - few.count) more" : "")
    }

    private func canComeUp(_ interface: WaitedInterface, at now: MonotonicTime) -> Bool {
        switch interface.stage {
        case .up, .pending: true
        case .lacksConfiguration, .lacksCarrier: self.end(of: interface).map { now < $0 } ?? true
        case .idle: false
        }
    }

    /// Until when an interface may still get what it lacks.
    private func end(of interface: WaitedInterface) -> MonotonicTime? {
        guard let since = self.lacks[interface.index]?.since else { return nil }
        return switch interface.stage {
        case .lacksConfiguration: since + self.grace
        case .lacksCarrier: since + Self.carrierPatience
        case .up, .pending, .idle: nil
        }
    }
}
