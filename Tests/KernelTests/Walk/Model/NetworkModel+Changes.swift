// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Side effects: what the kernel does besides what it is told, mostly without a message.
extension NetworkModel {
    mutating func add(_ kind: Kind, name: String, isUp: Bool, isPlugged: Bool) {
        self.lastID += 1
        self.interfaces.append(
            Interface(id: self.lastID, name: name, kind: kind, isUp: isUp, isPlugged: isPlugged)
        )
    }

    /// The interface and every route that has a next hop through it.
    mutating func delete(_ id: Int) {
        self.interfaces.removeAll { $0.id == id }
        self.routes.removeAll { $0.interfaces.contains(id) }
    }

    mutating func setUp(_ id: Int, _ isUp: Bool) {
        guard let position = self.position(id), self.interfaces[position].isUp != isUp else { return }
        self.interfaces[position].isUp = isUp
        if isUp {
            self.revive(.ipv4, id)
            self.revive(.ipv6, id)
        } else {
            // IPv4 addresses stay.
            self.interfaces[position].addresses.removeAll { $0.family == .ipv6 }
            self.kill(.ipv4, id)
            self.kill(.ipv6, id)
        }
    }

    mutating func setPlugged(_ id: Int, _ isPlugged: Bool) {
        guard let position = self.position(id) else { return }
        self.interfaces[position].isPlugged = isPlugged
    }

    mutating func rename(_ id: Int, _ name: String) {
        guard let position = self.position(id) else { return }
        self.interfaces[position].name = name
    }

    mutating func add(_ address: Address, to id: Int) {
        guard let position = self.position(id) else { return }
        self.interfaces[position].addresses.append(address)
        if address.family == .ipv4, self.interfaces[position].isUp { self.revive(.ipv4, id) }
    }

    mutating func remove(_ address: Address, from id: Int) {
        guard let position = self.position(id) else { return }
        self.interfaces[position].addresses.removeAll { $0 == address }
        // With the last IPv4 address of an interface go its IPv4 routes; other routes stay, the gateway out of reach.
        if address.family == .ipv4, self.interfaces[position].addresses(of: .ipv4).isEmpty { self.kill(.ipv4, id) }
    }

    /// Routes whose every next hop is through the interface go; of the others that next hop is put out of use.
    private mutating func kill(_ family: Family, _ id: Int) {
        self.routes = self.routes.compactMap { route in
            guard route.family == family, case .nextHops(var nextHops) = route.target, route.interfaces.contains(id)
            else {
                return route
            }
            for position in nextHops.indices where nextHops[position].interface == id {
                nextHops[position].isDead = true
            }
            guard nextHops.contains(where: { !$0.isDead }) else { return nil }
            var route = route
            route.target = .nextHops(nextHops)
            return route
        }
    }

    private mutating func revive(_ family: Family, _ id: Int) {
        for index in self.routes.indices where self.routes[index].family == family {
            guard case .nextHops(var nextHops) = self.routes[index].target else { continue }
            for position in nextHops.indices where nextHops[position].interface == id {
                nextHops[position].isDead = false
            }
            self.routes[index].target = .nextHops(nextHops)
        }
    }
}
