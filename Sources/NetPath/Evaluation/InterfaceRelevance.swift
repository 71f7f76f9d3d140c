// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How much an interface matters to a verdict, as far as that does not depend on routes.
///
/// Machines with thousands of virtual interfaces exist. A backend that cannot afford to report them all asks here which
/// ones it may leave out.
public enum InterfaceRelevance: Hashable, Sendable {
    /// It could carry a path, or has a step that could start one: never left out.
    case relevant
    /// It can only say why there is no path, in the same words as every other one like it: a few of them are enough.
    case spare
    /// A rule says to ignore it: it counts for nothing but as the one that the kernel chose.
    case ignored

    /// Tells how much an interface matters; its type, kind, driver, hardware address and addresses have to be known.
    public init(of interface: NetworkInterface, rules: [InterfaceRule]) {
        let rule = rules.first { $0.match.fits(interface) }
        if rule?.isIgnored == true {
            self = .ignored
        } else {
            self = rule?.namesAStep == true || interface.mayHaveAStep ? .relevant : .spare
        }
    }
}

extension InterfaceRule {
    /// Whether the rule can make an uplink, or a step that starts a path, out of an interface that is none by itself.
    fileprivate var namesAStep: Bool {
        self.dialsOnDemand || self.expectsAddress == true || self.isUplink == true || self.type == .wifi
            || self.type == .cellular
    }
}

extension NetworkInterface {
    /// Whether the interface could carry a path or be one step away from it, without any rule.
    fileprivate var mayHaveAStep: Bool {
        self.isHardware == true || self.type == .wifi || self.type == .cellular || self.expectsConfiguration == true
            || self.operationalState == .dormant || self.mayReachBeyondTheLink
    }

    /// Whether it has an address that reaches beyond the link, or this is unknown.
    private var mayReachBeyondTheLink: Bool { !self.knowsAddresses || self.addresses.contains(where: \.isGlobal) }
}
