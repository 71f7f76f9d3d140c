// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// What a program sets on its UDP socket to steer its packets.
struct DatagramOptions: Sendable {
    /// The mark of its packets (SO_MARK), for policy rules.
    var mark: Int?
    /// The interface they leave through (SO_BINDTODEVICE).
    var device: String?
    /// Their source address.
    var source: String?

    /// Describes a socket, by default one that leaves everything to the kernel.
    init(mark: Int? = nil, device: String? = nil, source: String? = nil) {
        self.mark = mark
        self.device = device
        self.source = source
    }

    fileprivate var arguments: [String] {
        [("--mark", mark.map(String.init)), ("--device", device), ("--source", source)].flatMap { name, value in
            value.map { [name, $0] } ?? []
        }
    }
}

/// A VPN in a process: a tun device whose packets travel in UDP datagrams to an endpoint.
///
/// It works like WireGuard or OpenVPN without their ciphers. What it sends is answered at every endpoint by
/// ``NetworkNamespace/startAnsweringRouter(in:innerAddresses:)``. The process looks up the way to the endpoint for every
/// packet. It ends with this object, and the device with it.
final class DatagramTunnel: Sendable {
    /// The device, which is up and has no routes.
    let interface: LabInterface
    private let process: MonitorProcess

    fileprivate init(_ name: String, to endpoint: String, _ options: DatagramOptions, _ lab: NetworkNamespace) throws {
        process = try lab.start(
            MonitorProcess.builtProduct("LabPeers"),
            ["carry", name, endpoint] + options.arguments
        )
        try process.next { $0["ready"] == true }
        interface = LabInterface(name, in: lab)
        try lab.ip("link set \(name) up")
    }

    /// Ends the process: the device disappears, with its addresses and routes.
    ///
    /// - Throws: ``LabError`` when the process does not end.
    func close() throws {
        try process.stop()
    }
}

extension NetworkNamespace {
    /// Adds a VPN in a process, without routes into it and without rules.
    ///
    /// - Parameters:
    ///   - name: The name of its tun device.
    ///   - endpoint: The numeric address it sends to; its UDP port is 51820.
    ///   - options: How its packets are steered.
    ///   - addresses: Addresses of the device with prefix lengths.
    /// - Returns: The tunnel, which carries packets.
    /// - Throws: ``LabError`` when `/dev/net/tun` is missing or not accessible, or the name is taken.
    func addDatagramTunnel(
        _ name: String,
        to endpoint: String,
        options: DatagramOptions = DatagramOptions(),
        addresses: [String] = []
    ) throws -> DatagramTunnel {
        let tunnel = try DatagramTunnel(name, to: endpoint, options, self)
        for address in addresses { try tunnel.interface.addAddress(address) }
        return tunnel
    }

    /// Puts the internet beyond the uplinks: something that answers for every address.
    ///
    /// It answers ARP, neighbour solicitations, ICMP echo and UDP at every port, on every Ethernet interface of the far
    /// side, also on those that are added later; an answer leaves through the interface of its question. It is also the
    /// far end of every ``DatagramTunnel``, VXLAN, GRE, IP in IP, 6in4 and IPv6 tunnel: it answers what they carry.
    /// Nothing needs addresses or routes there. It does not understand VLAN tags: add a VLAN on the far side.
    ///
    /// - Parameters:
    ///   - namespace: The file of another namespace to do so in; nil for the far side.
    ///   - innerAddresses: Addresses inside of datagram tunnels. Their far ends answer into the tunnel what comes from
    ///     there, so the tunnel's own packets must not come from there: those are not answered.
    /// - Returns: The running program, which ends with the object.
    /// - Throws: ``LabError`` when it cannot be started.
    func startAnsweringRouter(
        in namespace: String? = nil,
        innerAddresses: [String] = []
    ) throws -> MonitorProcess {
        let process = try start(
            "nsenter",
            ["--net=\(namespace ?? farSidePath())", MonitorProcess.builtProduct("LabPeers"), "answer"] + innerAddresses
        )
        try process.next { $0["ready"] == true }
        return process
    }

    /// Destinations that a program would have to reach for all of the internet of a family, as netpath asks for by
    /// default: one in each half of the address space.
    static func internet(_ family: Family) -> [String] {
        switch family {
        case .ipv4: ["9.0.0.1", "193.0.0.1"]
        case .ipv6: ["2600::1", "3000::1"]
        }
    }

    /// Sends UDP datagrams from the namespace and waits for their answers.
    ///
    /// A datagram is sent again every 60 ms from a socket of its own, so that neighbour discovery costs no answer.
    ///
    /// - Parameters:
    ///   - groups: Numeric addresses; when every address of one group has answered nothing is waited for any more.
    ///   - bound: How long to wait where they do not.
    ///   - port: The UDP port; 51821 asks the far end of a datagram tunnel whether it would answer there.
    ///   - options: How the datagrams are steered.
    ///   - refusals: How often in succession the kernel has to refuse to connect to an address, for want of a route,
    ///     until it is not waited for; nil where a route may still come.
    /// - Returns: The addresses that answered.
    /// - Throws: ``LabError`` when the program that sends them fails.
    func answers(
        from groups: [[String]],
        within bound: Duration,
        port: Int = 7,
        options: DatagramOptions = DatagramOptions(),
        refusals: Int? = nil
    ) throws -> Set<String> {
        let words =
            [try MonitorProcess.builtProduct("LabPeers"), "probe", "\(Int(bound / .milliseconds(1)))"]
            + groups.map { $0.joined(separator: ",") } + ["--port", "\(port)"] + options.arguments
            + (refusals.map { ["--refusals", "\($0)"] } ?? [])
        let answer = try JSONValue(json: run(words.map(shellQuoted).joined(separator: " ")))
        return Set(answer["answered"]?.elements.compactMap(\.string) ?? [])
    }

    /// Whether datagrams to ``internet(_:)`` come back in one of the families.
    ///
    /// - Parameter bound: How long to wait where they do not.
    /// - Returns: Whether they did.
    /// - Throws: ``LabError`` when the program that sends them fails.
    func reachesInternet(within bound: Duration) throws -> Bool {
        let groups = Family.allCases.map(Self.internet)
        let answered = try answers(from: groups, within: bound)
        return groups.contains { answered.isSuperset(of: $0) }
    }
}
