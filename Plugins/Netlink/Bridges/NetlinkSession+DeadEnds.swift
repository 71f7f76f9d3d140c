// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// What is asked about interfaces that take packets and may deliver them nowhere.
extension NetlinkSession {
    /// Where bridges have gateways, as far as that matters.
    func places(of gateways: [Neighbour], in table: LinkTable) -> [Neighbour: BridgePlace] {
        var places: [Neighbour: BridgePlace] = [:]
        let isAnyBridged = gateways.contains { table.bridge(below: $0.interfaceIndex) != nil }
        if !isAnyBridged, self.bridges.inUse.isEmpty { return places }
        // Again where more is heard of now, which may have changed before.
        for _ in 0..<2 {
            let heard = (self.bridges.inUse, self.bridges.interest)
            self.bridges.beginRound()
            for gateway in gateways {
                let address = self.gateways.hardwareAddresses[gateway]
                places[gateway] = self.bridges.place(of: gateway, at: address, in: table)
            }
            if (self.bridges.inUse, self.bridges.interest) == heard { break }
            self.attachFilter()
            if self.askAbout(gateways) { self.confirmSoon() }
        }
        return places
    }

    /// More hops of tunnels' packets are not asked about: each costs the kernel comparisons at every event.
    private static let outerLimit = 4

    /// What the packets of tunnels are handed to, where that decides.
    ///
    /// Behind bridges, and gateways of IPv6: the kernel passes over a route whose gateway does not answer (`rt6_score_route`).
    func decidingHops(of outer: [UInt32: TunnelEvidence]) -> [Neighbour] {
        var hops: [Neighbour] = []
        for route in outer.sorted(by: { $0.key < $1.key }).flatMap(\.value.routes) {
            for hop in route.answer.nextHops
            where hop.gateway?.family == .ipv6 || self.table.bridge(below: hop.interfaceIndex) != nil {
                guard let next = route.neighbour(of: hop), !hops.contains(next) else { continue }
                hops.append(next)
            }
        }
        return Array(hops.prefix(Self.outerLimit))
    }

    /// Finds out what may take packets off the interfaces that discard them, where a route leads there.
    func findDiversions(of interfaces: inout [NetworkInterface], among egress: [UInt32], in table: LinkTable) {
        for position in interfaces.indices {
            let index = interfaces[position].index
            guard egress.contains(index) || interfaces[position].defaultRoutes?.isEmpty == false,
                table.discards(index)
            else { continue }
            if !self.watchesTrafficControl {
                self.watchesTrafficControl = true
                self.attachFilter()
                _ = self.events?.join(RTNLGRP_TC)
            }
            interfaces[position].diversions = self.diversions(of: index)
        }
    }

    /// More marks are not asked about.
    private static let markLimit = 8

    private func diversions(of index: UInt32) -> [Diversion] {
        let subjects = [index, self.table.entries[index]?.interface.underlyingIndex]
        var diversions: Set<Diversion> = []
        // One by one the kernel would tell everybody (`qdisc_notify`). struct tcmsg: the index at 4, 20 bytes; TCA_KIND.
        _ = self.queries.dumpRepeatedly(NetlinkRequest(RTM_GETQDISC, flags: NLM_F_DUMP, headerLength: 20)) { message in
            guard subjects.contains(message.field(at: 4, as: UInt32.self)),
                message.attribute(1, headerLength: 20)?.bytes.starts(with: "clsact".utf8) == true
            else { return }
            diversions.insert(.trafficControl)
        }
        for rule in (self.lookup.rules ?? []).lazy.filter({ $0.table != nil && !$0.isInverted }).prefix(Self.markLimit)
        {
            let destination = self.options.referenceDestinations.first { $0.family == rule.family }
            guard let mark = rule.mark, mark != 0, let destination else { continue }
            let flow = Flow(to: destination).with(\.mark, mark)
            guard case .route(let route)? = self.lookup.answers(toOuter: [flow], from: self.table.sources).first,
                route.nextHops.contains(where: { !$0.isDown && self.table.leadsOut($0.interfaceIndex) })
            else { continue }
            diversions.insert(.mark(mark))
        }
        return Array(diversions)
    }
}

extension OuterRoute {
    /// The gateway of a hop, or the far end on the link; nil where that is not known.
    fileprivate func neighbour(of hop: NextHop) -> Neighbour? {
        guard let address = hop.gateway ?? (self.basis == .endpoint ? self.destination : nil) else { return nil }
        return Neighbour(interfaceIndex: hop.interfaceIndex, address: address)
    }
}

extension TunnelEvidence {
    /// Notes where bridges have what the packets are handed to.
    mutating func note(_ places: [Neighbour: BridgePlace]) {
        for position in self.routes.indices {
            guard case .route(var answer) = self.routes[position].answer else { continue }
            for hop in answer.nextHops.indices {
                let neighbour = self.routes[position].neighbour(of: answer.nextHops[hop])
                answer.nextHops[hop].place = neighbour.flatMap { places[$0] }
            }
            self.routes[position].answer = .route(answer)
        }
    }
}

extension LinkTable {
    /// Whether an interface, or the one that it is a VLAN of, discards what is sent into it.
    fileprivate func discards(_ index: UInt32) -> Bool {
        // One by one: an interface is large.
        let isVLAN = self.entries[index]?.interface.kind == "vlan"
        let parent = isVLAN ? self.entries[index]?.interface.underlyingIndex : nil
        return self.entries[parent ?? index]?.hasDiscardingKind == true
    }

    /// Whether an interface is up, has a carrier, and is neither a tunnel nor one that discards.
    fileprivate func leadsOut(_ index: UInt32) -> Bool {
        guard index != NetworkInterface.loopbackIndex, let entry = self.entries[index], entry.hasCarrier else {
            return false
        }
        return !entry.interface.hasTunnelKind && self.foundation(of: index) != .tunnels && !self.discards(index)
    }
}
