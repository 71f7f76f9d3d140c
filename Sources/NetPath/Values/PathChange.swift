// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What differs between a path and the one before.
public struct PathChange: Hashable, Sendable {
    /// The path before; nil when there was none.
    public var before: NetworkPath?
    /// The path now.
    public var after: NetworkPath

    /// Creates a change.
    public init(from before: NetworkPath?, to after: NetworkPath) {
        self.before = before
        self.after = after
    }
}

/// One thing that differs between two paths; what it tells is how it is now.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PathDifference: Hashable, Sendable {
    /// The status.
    case status(PathStatus)
    /// The reason of the status.
    case reason(PathReason)
    /// The backend that states the path; nil when netpath worked it out.
    case statedBy(String?)
    /// Whether the path is only the last known one.
    case staleness(Bool)
    /// An interface that was not listed.
    case interfaceAdded(PathInterface)
    /// An interface that is not listed any more.
    case interfaceRemoved(PathInterface)
    /// Something about an interface that is listed before and after.
    case interface(PathInterface, InterfaceDifference)
    /// The order of preference.
    case order([PathInterface])
    /// The index of the interface that carries the packets of the tunnel.
    case carriedByIndex(UInt32?)
    /// The gateways in use.
    case gateways([Gateway])
    /// The name servers, or whether they can be reached.
    case dnsServers([DNSServer]?)
    /// Whether IPv4 packets reach the internet.
    case supportsIPv4(Bool)
    /// Whether IPv6 packets reach the internet.
    case supportsIPv6(Bool)
    /// Whether traffic is likely to cost money.
    case isExpensive(Bool)
    /// Whether traffic should be kept low.
    case isConstrained(Bool)
    /// What is said of the internet, or where a captive portal is.
    case internet(InternetReachability)
    /// An outcome of a probe.
    case probe(ProbeOutcome)
    /// The health of a backend, or what it failed of.
    case backend(BackendReport)
    /// What limits a backend since.
    case limitation(backend: String, String)
    /// A backend that sees another status since.
    case disagreement(Disagreement)

    /// What differs about one interface.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum InterfaceDifference: Hashable, Sendable {
        /// Its name.
        case name(before: String)
        /// What it is.
        case type(InterfaceType)
        /// Its role, or what keeps it from carrying the path; what follows from that is not told besides.
        case reason(PathReason)
        /// Its operational state.
        case operationalState(OperationalState)
        /// An address that it has since.
        case addressAdded(AddressPrefix)
        /// An address that it has no more.
        case addressRemoved(AddressPrefix)
        /// A gateway of a default route through it since.
        case gatewayAdded(InternetAddress)
        /// A gateway of no default route through it any more.
        case gatewayRemoved(InternetAddress)
        /// The metric of the preferred default route.
        case metric(UInt32?)
        /// The routing table of that route.
        case table(UInt32?)
        /// What backends show with it.
        case labels([InterfaceLabel])
    }
}

extension PathChange {
    /// What differs, the most important first; empty when there was no path before.
    ///
    /// Worked out anew each time.
    public var differences: [PathDifference] {
        guard let before else { return [] }
        var differences: [PathDifference] = []
        func compare<Value: Equatable>(_ old: Value, _ new: Value, _ difference: (Value) -> PathDifference) {
            if new != old { differences.append(difference(new)) }
        }
        compare(before.status, self.after.status, PathDifference.status)
        compare(before.reason, self.after.reason, PathDifference.reason)
        compare(before.statedBy, self.after.statedBy, PathDifference.statedBy)
        compare(before.isStale, self.after.isStale, PathDifference.staleness)
        let interfaces = self.after.interfaceDifferences(since: before)
        differences += interfaces
        compare(before.carriedByIndex, self.after.carriedByIndex, PathDifference.carriedByIndex)
        // Nearly always the interfaces have told already.
        if interfaces.isEmpty { compare(before.gateways, self.after.gateways, PathDifference.gateways) }
        if self.after.tellableServers != before.tellableServers {
            differences.append(.dnsServers(self.after.dnsServers))
        }
        compare(before.supportsIPv4, self.after.supportsIPv4, PathDifference.supportsIPv4)
        compare(before.supportsIPv6, self.after.supportsIPv6, PathDifference.supportsIPv6)
        compare(before.isExpensive, self.after.isExpensive, PathDifference.isExpensive)
        compare(before.isConstrained, self.after.isConstrained, PathDifference.isConstrained)
        if self.after.internet != before.internet || self.after.portalURL != before.portalURL {
            differences.append(.internet(self.after.internet))
        }
        differences += self.after.probes.filter { !before.probes.contains($0) }.map { .probe($0) }
        for backend in self.after.backends { differences += backend.differences(since: before.backends) }
        differences += self.after.disagreements.filter { !before.disagreements.contains($0) }
            .map { .disagreement($0) }
        return differences
    }
}

extension NetworkPath {
    /// The name servers; to know that one can be reached, or not to know it any more, is nothing to tell.
    fileprivate var tellableServers: [DNSServer]? {
        self.dnsServers?.map { DNSServer($0.address, zone: $0.zone, isReachable: $0.isReachable != false) }
    }

    fileprivate func interfaceDifferences(since earlier: NetworkPath) -> [PathDifference] {
        var differences: [PathDifference] = []
        // While there is a path only those that could carry it are listed, so with the status the list changes too.
        let isSameList = (self.status == .satisfied) == (earlier.status == .satisfied)
        for old in earlier.interfaces where isSameList && !self.interfaces.contains(where: { $0.index == old.index }) {
            differences.append(.interfaceRemoved(old))
        }
        for interface in self.interfaces {
            if let old = earlier.interfaces.first(where: { $0.index == interface.index }) {
                differences += interface.differences(since: old).map { .interface(interface, $0) }
            } else if isSameList {
                differences.append(.interfaceAdded(interface))
            }
        }
        let common = { (path: NetworkPath, other: NetworkPath) in
            path.interfaces.map(\.index).filter { index in other.interfaces.contains { $0.index == index } }
        }
        if common(self, earlier) != common(earlier, self) { differences.append(.order(self.interfaces)) }
        return differences
    }
}

extension PathInterface {
    fileprivate func differences(since old: PathInterface) -> [PathDifference.InterfaceDifference] {
        var differences: [PathDifference.InterfaceDifference] = []
        if self.name != old.name { differences.append(.name(before: old.name)) }
        if self.type != old.type { differences.append(.type(self.type)) }
        if self.reason.code != old.reason.code { return differences + [.reason(self.reason)] }
        if let state = self.operationalState, state != old.operationalState {
            differences.append(.operationalState(state))
        }
        differences += old.addresses.filter { !self.addresses.contains($0) }.map { .addressRemoved($0) }
        differences += self.addresses.filter { !old.addresses.contains($0) }.map { .addressAdded($0) }
        differences += old.gateways.filter { !self.gateways.contains($0) }.map { .gatewayRemoved($0) }
        differences += self.gateways.filter { !old.gateways.contains($0) }.map { .gatewayAdded($0) }
        if self.metric != old.metric { differences.append(.metric(self.metric)) }
        if self.table != old.table { differences.append(.table(self.table)) }
        if self.labels != old.labels { differences.append(.labels(self.labels ?? [])) }
        return differences
    }
}

extension BackendReport {
    fileprivate func differences(since reports: [BackendReport]) -> [PathDifference] {
        guard let old = reports.first(where: { $0.name == self.name }) else { return [] }
        var differences: [PathDifference] = []
        if self.health != old.health || self.error != old.error { differences.append(.backend(self)) }
        return differences
            + self.limitations.filter { !old.limitations.contains($0) }
            .map { .limitation(backend: self.name, $0) }
    }
}
