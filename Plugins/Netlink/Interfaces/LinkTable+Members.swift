// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension LinkTable {
    /// The members of a bridge, bond or VRF, sorted out as they come: there may be thousands.
    struct Members {
        private(set) var all = IndexSet()
        /// Those that lead on, as far as they can: hardware, what may stand on some, and veths whose other end is here.
        private(set) var leading = IndexSet()
        /// Those that forward nothing.
        private(set) var idle = IndexSet()

        mutating func insert(_ entry: Entry) {
            let index = entry.interface.index
            self.all.insert(index)
            if entry.mayLeadOn { self.leading.insert(index) } else { self.leading.remove(index) }
            if entry.forwards { self.idle.remove(index) } else { self.idle.insert(index) }
        }

        mutating func remove(_ index: UInt32) {
            self.all.remove(index)
            self.leading.remove(index)
            self.idle.remove(index)
        }
    }

    /// Sets what a port of a bridge forwards, and that it has lost its carrier; the message of AF_UNSPEC says when it is back.
    mutating func setPort(_ index: UInt32, _ port: PortAttributes, hasCarrier: Bool) {
        guard var entry = self.entries[index], entry.port != port || (entry.hasCarrier && !hasCarrier) else { return }
        entry.port = port
        if !hasCarrier {
            entry.interface.hasCarrier = false
            entry.interface.carrierSince = nil
        }
        self.store(entry)
    }

    /// Whether a bridge has a port that packets can leave through, and a macvlan a sender that it takes packets of; nil
    /// for others.
    func hasPorts(_ index: UInt32) -> Bool? {
        if self.entries[index]?.receivesNothing == true { return false }
        guard self.entries[index]?.interface.kind == "bridge" else { return nil }
        let ports = self.members[index]?.all
        return ports?.contains { self.entries[$0]?.hasDiscardingKind != true } ?? false
    }

    /// Whether an interface is a port of a bridge, and forwards.
    func forwards(_ port: UInt32, in bridge: UInt32) -> Bool {
        self.members[bridge]?.all.contains(port) == true && self.entries[port]?.forwards == true
    }

    /// The bridge that an interface is or stands on, with its VLAN interface there, and the port by which packets come into it
    /// where that is the other end of a veth.
    func bridge(below index: UInt32) -> (bridge: UInt32, vlan: UInt32?, port: UInt32?)? {
        var (index, vlan): (UInt32, UInt32?) = (index, nil)
        // Stacks are finite, but messages of a changing stack can show a loop.
        for _ in 0..<8 {
            // One by one: an interface is large.
            switch self.entries[index]?.interface.kind {
            case "bridge": return (index, vlan, nil)
            case "vlan": vlan = index
            case "macvlan", "macvtap", "ipvlan", "ipvtap": break
            case "veth": return self.bridge(behind: index).map { ($0, vlan, self.otherEnd(of: index)) }
            default: return nil
            }
            guard let parent = self.entries[index]?.interface.underlyingIndex else { return nil }
            index = parent
        }
        return nil
    }

    /// The bridge that the other end of a port is a port of; nil when there is none in this namespace.
    func bridge(behind port: UInt32) -> UInt32? {
        guard let peer = self.otherEnd(of: port), let bridge = self.entries[peer]?.interface.controllerIndex,
            self.entries[bridge]?.interface.kind == "bridge"
        else { return nil }
        return bridge
    }

    /// The other end of a veth in this namespace; nil for others.
    func otherEnd(of index: UInt32) -> UInt32? {
        guard let interface = self.entries[index]?.interface, interface.kind == "veth", !interface.isParentElsewhere,
            let peer = interface.underlyingIndex, self.entries[peer] != nil
        else { return nil }
        return peer
    }

    /// Whether the other end of a port is in this namespace and no port of anything.
    func isLooseEnd(_ port: UInt32) -> Bool {
        self.otherEnd(of: port).map { self.entries[$0]?.interface.controllerIndex == nil } ?? false
    }

    /// More bridges than that are not looked through.
    static let bridgeLimit = 256

    /// A bridge, and those that veth pairs of this namespace connect it to.
    func bridges(connectedTo bridge: UInt32) -> [UInt32] {
        var bridges = [bridge]
        var seen: Set<UInt32> = [bridge]
        var next = 0
        while next < bridges.count, bridges.count < Self.bridgeLimit {
            for port in self.members[bridges[next]]?.leading.indices ?? [] {
                guard let other = self.bridge(behind: port), seen.insert(other).inserted else { continue }
                bridges.append(other)
            }
            next += 1
        }
        return bridges
    }
}

extension LinkTable.Entry {
    fileprivate var mayLeadOn: Bool {
        self.interface.isHardware == true || self.classification == .asLower
            || (self.interface.kind == "veth" && self.interface.underlyingIndex != nil)
    }
}
