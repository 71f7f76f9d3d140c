// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What a tunnel says of its outer packets in the message about its link (IFLA_INFO_DATA).
struct TunnelAttributes: Hashable {
    /// Where they go; nil when that depends on the packet inside.
    var remote: InternetAddress?
    /// The address they are sent from; nil leaves it to the kernel.
    var local: InternetAddress?
    /// Their mark; nil for none.
    var mark: UInt32?
    /// The interface they have to leave through; nil leaves it to the kernel.
    var linkIndex: UInt32?
    /// The UDP port they go to; nil for those that are not UDP.
    var port: UInt16?
}

extension TunnelAttributes {
    /// The numbers of the attributes, which differ from kind to kind; 0 for those that a kind does not have.
    private struct Layout {
        var link = 0
        var local: [Int] = []
        var remote: [Int]
        var mark = 0
        var port = 0
    }

    private static func layout(of kind: String) -> Layout? {
        switch kind {
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            Layout(
                link: Int(IFLA_GRE_LINK),
                local: [Int(IFLA_GRE_LOCAL)],
                remote: [Int(IFLA_GRE_REMOTE)],
                mark: Int(IFLA_GRE_FWMARK)
            )
        case "ipip", "sit", "ip6tnl":
            Layout(
                link: Int(IFLA_IPTUN_LINK),
                local: [Int(IFLA_IPTUN_LOCAL)],
                remote: [Int(IFLA_IPTUN_REMOTE)],
                mark: Int(IFLA_IPTUN_FWMARK)
            )
        case "vti", "vti6":
            Layout(
                link: Int(IFLA_VTI_LINK),
                local: [Int(IFLA_VTI_LOCAL)],
                remote: [Int(IFLA_VTI_REMOTE)],
                mark: Int(IFLA_VTI_FWMARK)
            )
        case "vxlan":
            Layout(
                link: Int(IFLA_VXLAN_LINK),
                local: [Int(IFLA_VXLAN_LOCAL), Int(IFLA_VXLAN_LOCAL6)],
                remote: [Int(IFLA_VXLAN_GROUP), Int(IFLA_VXLAN_GROUP6)],
                port: Int(IFLA_VXLAN_PORT)
            )
        case "geneve":
            Layout(remote: [Int(IFLA_GENEVE_REMOTE), Int(IFLA_GENEVE_REMOTE6)], port: Int(IFLA_GENEVE_PORT))
        default: nil
        }
    }

    /// Reads what a kind of tunnel says; nil for kinds that say nothing.
    ///
    /// - Parameters:
    ///   - kind: The kind (IFLA_INFO_KIND).
    ///   - data: The attributes; what is missing or cut short is not known.
    init?(kind: String, _ data: NetlinkAttribute) {
        guard let layout = Self.layout(of: kind) else { return nil }
        func address(_ types: [Int]) -> InternetAddress? {
            types.lazy.compactMap { data.nested($0)?.address }.first { !$0.isUnspecified }
        }
        func number(_ type: Int) -> UInt32? {
            let number = type == 0 ? nil : data.nested(type)?.uint32
            return number == 0 ? nil : number
        }
        self.remote = address(layout.remote)
        self.local = address(layout.local)
        self.mark = number(layout.mark)
        self.linkIndex = number(layout.link)
        // In network order.
        self.port = layout.port == 0 ? nil : data.nested(layout.port)?.load(at: 0).map { UInt16(bigEndian: $0) }
    }
}
