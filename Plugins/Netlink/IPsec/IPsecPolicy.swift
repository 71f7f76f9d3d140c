// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// A policy of IPsec for packets that leave (`ip-xfrm(8)`), as far as it decides whether they do.
struct IPsecPolicy: Hashable {
    /// What has to be done with packets before they are sent (struct xfrm_user_tmpl).
    struct Template: Hashable {
        /// IPPROTO_*, such as that of ESP.
        var protocolNumber: UInt8
        var mode: UInt8
        var request: UInt32
        /// The number of the state; 0 for any.
        var number: UInt32
        /// The far end of a tunnel; nil in the transport mode, which has none of its own.
        var remote: InternetAddress?
    }

    var selector: IPsecSelector
    /// The lowest comes first.
    var priority: UInt32
    var blocks: Bool
    var mark: UInt32 = 0
    var mask: UInt32 = 0
    /// Those without which no packet is sent.
    var required: [Template] = []

    /// Reads XFRM_MSG_NEWPOLICY; nil of policies that say nothing of packets which programs send.
    init?(_ message: NetlinkMessage) {
        // struct xfrm_userpolicy_info: the selector, lifetimes, the priority, an index, the direction and the action.
        guard message.type == XFRM_MSG_NEWPOLICY, let selector = IPsecSelector(message),
            let priority = message.field(at: 152, as: UInt32.self),
            message.field(at: 160, as: UInt8.self) == UInt8(XFRM_POLICY_OUT)
        else { return nil }
        self.selector = selector
        self.priority = priority
        self.blocks = message.field(at: 161, as: UInt8.self) == UInt8(XFRM_POLICY_BLOCK)
        var isOfOthers = false
        message.forEachAttribute(headerLength: MemoryLayout<xfrm_userpolicy_info>.size) { type, attribute in
            switch xfrm_attr_type_t(UInt32(type)) {
            case XFRMA_TMPL: self.required = Self.templates(attribute)
            case XFRMA_MARK: (self.mark, self.mask) = (attribute.uint32 ?? 0, attribute.load(at: 4) ?? 0)
            // Of an xfrm interface, or a sub-policy of Mobile IPv6 (struct xfrm_userpolicy_type).
            case XFRMA_IF_ID: isOfOthers = isOfOthers || attribute.uint32 != 0
            case XFRMA_POLICY_TYPE: isOfOthers = isOfOthers || attribute.bytes.first != UInt8(XFRM_POLICY_TYPE_MAIN)
            default: break
            }
        }
        if isOfOthers { return nil }
    }

    private static func templates(_ attribute: NetlinkAttribute) -> [Template] {
        let size = MemoryLayout<xfrm_user_tmpl>.size
        return stride(from: 0, to: attribute.bytes.count, by: size).compactMap { start in
            // The far end, a number, a protocol, the family at 24, the near end, the request at 44, the mode at 48.
            guard let number: UInt32 = attribute.load(at: start + 16),
                let protocolNumber: UInt8 = attribute.load(at: start + 20),
                let request: UInt32 = attribute.load(at: start + 44), let mode: UInt8 = attribute.load(at: start + 48),
                let isOptional: UInt8 = attribute.load(at: start + 50), isOptional == 0
            else { return nil }
            let remote = InternetAddress(
                attribute.load(at: start + 24),
                ipv4: attribute.load(at: start),
                ipv6: attribute.load(at: start)
            )
            return Template(
                protocolNumber: protocolNumber,
                mode: mode,
                request: request,
                number: number,
                remote: mode == UInt8(XFRM_MODE_TRANSPORT) ? nil : remote
            )
        }
    }

    /// Whether the policy is for a packet that takes a route (`xfrm_policy_match`, net/xfrm/xfrm_policy.c).
    func covers(_ flow: Flow, _ route: Route) -> Bool {
        guard (flow.mark ?? 0) & self.mask == self.mark else { return false }
        var flow = flow
        if case .address(let source) = route.source { flow.source = source }
        return self.selector.covers(flow, route.nextHops.map(\.interfaceIndex))
    }
}

/// The packets that a policy is for (struct xfrm_selector).
struct IPsecSelector: Hashable {
    var destination: AddressPrefix
    var source: AddressPrefix
    var destinationPort: UInt16
    var portMask: UInt16
    var hasSourcePort: Bool
    /// IPPROTO_*; 0 for any.
    var protocolNumber: UInt8
    /// The interface that packets leave through; 0 for any.
    var interface: UInt32

    /// Reads what messages about policies begin with; nil where it is empty, or of another family.
    init?(_ message: NetlinkMessage) {
        func prefix(at offset: Int, lengthAt: Int) -> AddressPrefix? {
            guard let length = message.field(at: lengthAt, as: UInt8.self),
                let address = InternetAddress(
                    message.field(at: 40, as: UInt16.self),
                    ipv4: message.field(at: offset, as: UInt32.self),
                    ipv6: message.field(at: offset, as: UInt128.self)
                )
            else { return nil }
            return AddressPrefix(address, length: min(Int(length), address.bitWidth))
        }
        // The addresses, two ports with their masks, the family, the lengths of the prefixes, the protocol.
        guard let destination = prefix(at: 0, lengthAt: 42), let source = prefix(at: 16, lengthAt: 43),
            let port = message.field(at: 32, as: UInt16.self), let mask = message.field(at: 34, as: UInt16.self),
            let sourceMask = message.field(at: 38, as: UInt16.self),
            let protocolNumber = message.field(at: 44, as: UInt8.self),
            let interface = message.field(at: 48, as: UInt32.self)
        else { return nil }
        self.destination = destination
        self.source = source
        self.destinationPort = UInt16(bigEndian: port)
        self.portMask = UInt16(bigEndian: mask)
        self.hasSourcePort = sourceMask != 0
        self.protocolNumber = protocolNumber
        self.interface = interface
    }

    /// Whether the packet is among them, as far as that is known: the kernel chooses a source port at random.
    func covers(_ flow: Flow, _ interfaces: [UInt32]) -> Bool {
        self.destination.contains(flow.destination) && !self.hasSourcePort
            && (self.source.length == 0 || flow.source.map(self.source.contains) == true)
            && [0, flow.transport?.protocolNumber].contains(self.protocolNumber)
            && ((flow.transport?.destinationPort ?? 0) ^ self.destinationPort) & self.portMask == 0
            && (self.interface == 0 || interfaces.allSatisfy { $0 == self.interface })
    }
}

extension InternetAddress {
    /// Takes the one of two readings of an xfrm_address_t that a family (AF_*) means.
    fileprivate init?(_ family: UInt16?, ipv4: UInt32?, ipv6: UInt128?) {
        switch (family.map(Int32.init), ipv4, ipv6) {
        case (AF_INET, let bits?, _): self.init(ipv4: UInt32(bigEndian: bits))
        case (AF_INET6, _, let bits?): self.init(ipv6: UInt128(bigEndian: bits))
        default: return nil
        }
    }
}
