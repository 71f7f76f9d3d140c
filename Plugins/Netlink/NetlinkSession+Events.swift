// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// What the kernel says by itself: hints about what to ask anew.
extension NetlinkSession {
    /// How many datagrams are read before what they changed is reported: a storm that never ends must not silence us.
    static let drainLimit = 4096

    func drain(_ events: NetlinkSocket) throws {
        guard try self.drain(events, self.apply) else { return }
        self.resynchronizations += 1
        self.context.log(.info, "events were lost in a storm; everything is read again")
        try self.readEverything()
    }

    /// Hands what a socket tells to a function.
    ///
    /// - Returns: Whether events are lost.
    /// - Throws: ``NetlinkError`` when the socket does not work any more.
    func drain(_ events: NetlinkSocket, _ body: (NetlinkMessage) -> Void) throws(NetlinkError) -> Bool {
        var wasOverrun = false
        var count = 0
        while wasOverrun || count < Self.drainLimit {
            switch events.receive(body) {
            case .messages(let some):
                count += some
                if some < NetlinkSocket.batchSize { return wasOverrun }
            case .overrun: wasOverrun = true
            case .empty: return wasOverrun
            case .failed(let error): throw NetlinkError("read events", error)
            }
        }
        return wasOverrun
    }

    func apply(_ message: NetlinkMessage) {
        if message.type != RTM_DELADDR { self.onlyAddressesGo = false }
        switch message.type {
        case RTM_NEWLINK:
            guard let update = LinkUpdate(message) else {
                // Such a message lacks what it takes to update the table.
                if let index = LinkUpdate.indexOfProtocolSettings(message) { self.table.outdate(index) }
                if let port = LinkUpdate.port(message) {
                    self.table.setPort(port.index, port.attributes, hasCarrier: port.hasCarrier)
                }
                return
            }
            // An entry is large.
            let comesUp =
                update.flags.contains(.up)
                && self.table.entries[update.index]?.interface.flags.contains(.up) == false
            self.table.apply(update, now: self.context.clock.now())
            self.stale.insert(interface: update.index)
            // Those that were kept (`keep_addr_on_down`) are checked for duplicates again, which is told when it is over.
            if comesUp, self.table.entries[update.index]?.interface.addresses.isEmpty == false {
                self.readdressed.insert(update.index)
            }
            if !update.flags.contains(.up) { self.confirmSoon() }
            if !update.flags.contains(.up) || update.details?.hasCarrier == false { self.forgetGateways(update.index) }
        case RTM_DELLINK:
            guard let update = LinkUpdate(message) else { return }
            self.table.removeLink(update.index)
            self.tunnels.forget(update.index)
            self.forgetGateways(update.index)
            self.stale.insert(interface: update.index)
            self.confirmSoon()
        case RTM_NEWADDR:
            guard let update = self.address(message) else { return }
            let wasAsked = self.table.mayHaveDefaultRoutes(update.interfaceIndex)
            let family = update.address.prefix.address.family
            // The kernel announces an address before routes take it for their source (`__inet_insert_ifa`, net/ipv4/devinet.c).
            if update.address.isGlobal, self.table.sources(family, of: update.interfaceIndex).isEmpty {
                self.confirmSoon()
            }
            self.table.apply(update)
            if self.table.mayHaveDefaultRoutes(update.interfaceIndex) == wasAsked {
                self.stale.insert(interface: update.interfaceIndex, family: family)
            } else {
                // An interface with an address of one family is asked about the routes of both.
                self.stale.insert(interface: update.interfaceIndex)
            }
        case RTM_DELADDR:
            guard let update = AddressUpdate(message) else { return }
            self.table.remove(update)
            // IPv4 routes that used the address go without a word, also those through other interfaces.
            self.stale = .all
            self.confirmSoon()
        case RTM_NEWROUTE, RTM_NEWRULE:
            if message.type == RTM_NEWRULE { self.lookup.rulesChanged() }
            if let index = RouteReply.advertiser(message) { self.table.noteAdvertisement(index) }
            self.stale.insertRoute(family: message.family)
        case RTM_DELROUTE, RTM_DELRULE:
            if message.type == RTM_DELRULE { self.lookup.rulesChanged() }
            // What has taken the place may be of the other family, and not be announced yet: an IPv6 address without duplicate
            // address detection is in use before its RTM_NEWADDR (`inet6_addr_add`, net/ipv6/addrconf.c).
            self.stale = .all
            self.confirmSoon()
        case RTM_NEWNEIGH, RTM_DELNEIGH:
            if ForwardingEntry.isDefault(message) { self.tunnels.invalidate() }
            if let update = ForwardingUpdate(message) {
                if let port = self.bridges.apply(update, in: self.table) { self.table.outdate(port) }
                return
            }
            guard let update = NeighbourUpdate(message), self.note(update) else { return }
            // Routes of one family may lead through gateways of the other.
            self.stale = .all
            self.attachFilter()
        case RTM_NEWNETCONF:
            self.stale.insertRoute(family: message.family)
        case RTM_NEWPREFIX, RTM_NEWNDUSEROPT:
            // A router advertisement, which can change the lifetime of a route without a word about the route.
            self.stale.insertRoute(family: AF_INET6)
            // struct prefixmsg and struct nduseroptmsg: family, others, index.
            if let index = message.field(at: 4, as: UInt32.self) { self.table.noteAdvertisement(index) }
        case RTM_NEWNEXTHOP:
            // Routes of one family may lead through next hops of the other.
            self.stale = .all
        case RTM_DELNEXTHOP:
            self.stale = .all
            self.confirmSoon()
        default:
            return
        }
    }

    private func forgetGateways(_ interface: UInt32) {
        guard self.gateways.silent.contains(where: { $0.interfaceIndex == interface }) else { return }
        self.gateways.forget(interface)
        self.attachFilter()
    }

    /// Makes sure that what goes is not taken for still there.
    ///
    /// The kernel announces before it acts (fib_table_delete, __inet_del_ifa, __dev_notify_flags), and who asks at
    /// once can be faster: in C, about one removed route in 1,000 still answered.
    func confirmSoon() {
        self.confirmAt = self.context.clock.now() + .milliseconds(5)
    }

    func confirm() {
        self.confirmAt = nil
        // Waits for the lock under which the kernel changes the network, and so for the end of the change.
        _ = self.queries.ask(.link(1)) { _ in true }
        self.stale = .all
    }
}
