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
    /// Whether where they go is learnt from those that come in, which frees them from the interface (`vxlan_snoop`).
    var learns = false
}

extension TunnelAttributes {
    /// The numbers of the attributes, which differ from kind to kind; 0 for those that a kind does not have.
    private struct Layout {
        var link = 0
        var local: [Int] = []
        var remote: [Int]
        var mark = 0
        var port = 0
        var learning = 0
    }

    private static func layout(of kind: String) -> Layout? {
        switch kind {
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            Layout(link: IFLA_GRE_LINK, local: [IFLA_GRE_LOCAL], remote: [IFLA_GRE_REMOTE], mark: IFLA_GRE_FWMARK)
        case "ipip", "sit", "ip6tnl":
            Layout(
                link: IFLA_IPTUN_LINK,
                local: [IFLA_IPTUN_LOCAL],
                remote: [IFLA_IPTUN_REMOTE],
                mark: IFLA_IPTUN_FWMARK
            )
        case "vti", "vti6":
            Layout(link: IFLA_VTI_LINK, local: [IFLA_VTI_LOCAL], remote: [IFLA_VTI_REMOTE], mark: IFLA_VTI_FWMARK)
        case "vxlan":
            Layout(
                link: IFLA_VXLAN_LINK,
                local: [IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6],
                remote: [IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6],
                port: IFLA_VXLAN_PORT,
                learning: IFLA_VXLAN_LEARNING
            )
        case "geneve": Layout(remote: [IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6], port: IFLA_GENEVE_PORT)
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
        self.learns = layout.learning != 0 && data.nested(layout.learning)?.bytes.first == 1
        // In network order.
        self.port = layout.port == 0 ? nil : data.nested(layout.port)?.load(at: 0).map { UInt16(bigEndian: $0) }
    }
}
