// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkNamespace {
    /// Adds an uplink: an interface that looks like a network card whose cable leads to another machine.
    ///
    /// It is one end of a veth pair, the other end is in a namespace beyond. The interface is up and has a carrier,
    /// and no addresses but the given ones.
    ///
    /// - Parameters:
    ///   - name: The new interface's name.
    ///   - addresses: Addresses with prefix lengths.
    ///   - gateway: The gateway of a default route, of either family.
    ///   - metric: The metric of that route.
    ///   - index: The interface's index, for example that of a deleted one; nil for a fresh one.
    ///   - isUp: Whether the interface is set up.
    ///   - hasCarrier: Whether the other end is up.
    ///   - hasLinkLocalAddress: Whether the kernel gives it an IPv6 link-local address.
    /// - Returns: The interface.
    /// - Throws: ``LabError`` when `ip` fails.
    @discardableResult
    public func addUplink(
        _ name: String,
        addresses: [String] = [],
        gateway: String? = nil,
        metric: Int? = nil,
        index: Int? = nil,
        isUp: Bool = true,
        hasCarrier: Bool = true,
        hasLinkLocalAddress: Bool = false
    ) throws -> LabInterface {
        // A name of its own, so that the interface can be moved to the far side.
        let number = nextNumber()
        let peerName = "peer\(number)"
        // An index that is free on the far side too (an interface keeps its index in a move only if it can), and far
        // from those the kernel gives out itself.
        let index = index ?? 1_000_000 + number
        try ip("link add \(name) index \(index) type veth peer name \(peerName) netns \(farSidePath())")
        if hasLinkLocalAddress { try ip("link set \(name) addrgenmode eui64") }
        let interface = LabInterface(name, in: self, peerName: peerName)
        // The carrier first: otherwise every start would contain the events of a cable being plugged in.
        if hasCarrier { try interface.setPeerCarrier(true) }
        if isUp { try interface.setUp() }
        for address in addresses { try interface.addAddress(address) }
        if let gateway { try addDefaultRoute(via: gateway, through: interface, metric: metric) }
        return interface
    }

    /// Adds a device that stands for a tunnel: kind vxlan, operational state unknown, with a carrier while it is up.
    ///
    /// WireGuard and the IP tunnels, which look the same to a monitor, are missing from many kernels.
    package func addTunnel(_ name: String, addresses: [String] = []) throws -> LabInterface {
        try ip("link add \(name) up type vxlan id \(nextNumber()) dstport 4789")
        let interface = LabInterface(name, in: self)
        for address in addresses { try interface.addAddress(address) }
        return interface
    }

    /// Adds a bridge.
    package func addBridge(_ name: String, ports: [LabInterface] = []) throws -> LabInterface {
        try ip("link add \(name) up type bridge")
        for port in ports { try ip("link set \(port.name) master \(name)") }
        return LabInterface(name, in: self)
    }

    /// Adds thousands of interfaces quickly, named by the prefix and a number from 0.
    ///
    /// They are vxlan devices, the cheapest kind: 10,000 take a few seconds, as veth pairs many minutes.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - prefix: What their names begin with.
    ///   - isUp: Whether they are up, which lets each appear as a working interface without an address.
    /// - Throws: ``LabError`` when `ip` fails.
    package func addInterfaces(_ count: Int, prefix: String, isUp: Bool = true) throws {
        let up = isUp ? "up" : ""
        // Identifiers of their own range: a vxlan identifier must be unique per namespace.
        let firstIdentifier = 100_000 + nextNumber() * 20_000
        try ipBatch(
            (0..<count).lazy.map {
                "link add \(prefix)\($0) \(up) type vxlan id \(firstIdentifier + $0) dstport 4789"
            }
        )
    }

    /// Runs a command in the namespace beyond, where the other ends of the uplinks are.
    ///
    /// - Parameter command: A command in the language of `sh`.
    /// - Returns: The command's standard output.
    /// - Throws: ``LabError`` when the status is not zero.
    @discardableResult
    public func runOnFarSide(_ command: String) throws -> String {
        try run("nsenter --net=\(shellQuoted(farSidePath())) sh -c \(shellQuoted(command))")
    }
}
