// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What may take packets off an interface before they come to the end that its kind puts them to.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Diversion: Hashable, Sendable, Codable {
    /// Traffic control looks at its packets (a `clsact` qdisc, `tc-actions(8)`), and can redirect them.
    case trafficControl
    /// Packets with this mark leave elsewhere: a program may set it, or a firewall in its `output` hook, which routes
    /// them anew.
    case mark(UInt32)
}

extension NetworkInterface {
    /// Whether the kernel's kind of the interface is one that discards what is sent into it.
    ///
    /// Kill switches and leak protection of VPNs put a default route there (NetworkManager's `dummy`).
    @inline(__always) package var hasDiscardingKind: Bool { Self.isDiscardingKind(self.kind) }

    /// The same of a kind alone.
    package static func isDiscardingKind(_ kind: String?) -> Bool { kind.map(self.discardingKinds.contains) ?? false }

    /// The kinds as the kernel's modules name them (`rtnl_link_ops`): `ifb` passes on only what traffic control gave it,
    /// `nlmon` and `vsockmon` only listen, and the others carry nothing but CAN frames.
    private static let discardingKinds: Set<String> = ["dummy", "ifb", "nlmon", "vsockmon", "vcan", "vxcan", "can"]
}
