// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An interface inside a network namespace, known by its name.
public struct LabInterface: Sendable {
    /// The namespace the interface was made in.
    public let namespace: NetworkNamespace

    /// The interface's name.
    public let name: String

    /// The name of the other end, in the namespace beyond, if this is an uplink.
    public let peerName: String?

    /// Names an interface that exists already, such as `lo`.
    ///
    /// - Parameters:
    ///   - name: The interface's name.
    ///   - namespace: The namespace it is in.
    public init(_ name: String, in namespace: NetworkNamespace) {
        self.init(name, in: namespace, peerName: nil)
    }

    init(_ name: String, in namespace: NetworkNamespace, peerName: String?) {
        self.name = name
        self.namespace = namespace
        self.peerName = peerName
    }

    /// Sets the interface administratively up.
    ///
    /// - Throws: ``LabError`` when `ip` fails.
    public func setUp() throws {
        try namespace.ip("link set \(name) up")
    }

    /// Sets the interface administratively down.
    ///
    /// The kernel then drops the interface's IPv4 routes without a message and keeps its IPv4 addresses.
    ///
    /// - Throws: ``LabError`` when `ip` fails.
    public func setDown() throws {
        try namespace.ip("link set \(name) down")
    }

    /// Adds an address, valid at once: duplicate address detection is left out.
    ///
    /// - Parameters:
    ///   - address: The address with its prefix length, for example `192.0.2.2/24`.
    ///   - options: More words for `ip address add`, for example `preferred_lft 0`.
    /// - Throws: ``LabError`` when `ip` fails.
    public func addAddress(_ address: String, options: String = "") throws {
        let noDetection = address.contains(":") ? "nodad" : ""
        try namespace.ip("address add \(address) dev \(name) \(noDetection) \(options)")
    }

    /// Adds an IPv6 address that goes through duplicate address detection: tentative for a second or two.
    package func addTentativeAddress(_ address: String) throws {
        try namespace.ip("-6 address add \(address) dev \(name)")
    }

    /// Removes an address.
    ///
    /// - Parameter address: The address with its prefix length.
    /// - Throws: ``LabError`` when `ip` fails.
    public func removeAddress(_ address: String) throws {
        try namespace.ip("address del \(address) dev \(name)")
    }

    /// Plugs or unplugs the cable: sets the other end up or down, which gives or takes this end's carrier.
    ///
    /// - Parameter isPresent: Whether there shall be a carrier.
    /// - Throws: ``LabError`` when `ip` fails or this is not an uplink.
    public func setPeerCarrier(_ isPresent: Bool) throws {
        guard let peerName else {
            throw LabError.invalidRequest("\(name) has no other end; make it with addUplink(_:) to pull its cable")
        }
        try namespace.runOnFarSide("ip link set \(peerName) \(isPresent ? "up" : "down")")
    }

    /// Makes the kernel give up this interface's routes, of both families, when it has no carrier.
    ///
    /// Without it the kernel goes on sending packets to an unplugged cable while another uplink is there.
    package func ignoreRoutesWithoutCarrier() throws {
        for family in ["ipv4", "ipv6"] {
            try namespace.setParameter("net/\(family)/conf/\(name)/ignore_routes_with_linkdown", to: 1)
        }
    }

    /// Renames the interface, which keeps its index and must be down.
    package func renamed(to newName: String) throws -> LabInterface {
        try namespace.ip("link set \(name) name \(newName)")
        return LabInterface(newName, in: namespace, peerName: peerName)
    }

    /// Moves the interface to the namespace beyond the uplinks, where it is out of sight.
    package func moveToFarSide() throws {
        try namespace.ip("link set \(name) netns \(namespace.farSidePath())")
    }

    /// Brings the interface back from the namespace beyond.
    ///
    /// It keeps its index if that is still free and has lost its addresses.
    package func moveBack() throws {
        try namespace.runOnFarSide("ip link set \(name) netns \(namespace.processIdentifier)")
    }

    /// Deletes the interface.
    ///
    /// - Throws: ``LabError`` when `ip` fails.
    public func delete() throws {
        try namespace.ip("link del \(name)")
    }

    /// Reads the interface's index.
    package func index() throws -> Int {
        let text = try namespace.run("cat /sys/class/net/\(name)/ifindex")
        guard let index = Int(text.filter(\.isNumber)) else {
            throw LabError.invalidRequest("\(name) has the index '\(text)', which is not a number")
        }
        return index
    }
}
