// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Synchronization

/// What a scenario is played on: a machine with the uplink wan0, and the rest of the world on the far side.
///
/// The far side is the gateway, and the host that probes connect to: its addresses are on the gateway's loopback, one
/// routing decision away.
final class Stage: Sendable {
    /// The families of the uplink.
    enum World: Sendable {
        case ipv4
        case ipv6
        case dual
        /// IPv4, with the target known by its name only.
        case named
    }

    static let target = "198.51.100.7"
    static let target6 = "2001:db8:ffff::7"

    let lab: NetworkNamespace
    let wan: LabInterface
    /// The hosts to probe.
    let targets: [String]
    private let world: World
    /// The server, and whether it tells of connections.
    private let current = Mutex<(server: LabServer?, isListening: Bool)>((nil, false))
    private let names = Mutex<LabServer?>(nil)
    private let marks = Mutex(0)
    private let devices = Mutex<[TunDevice]>([])
    private let watches = Mutex<[MonitorProcess]>([])
    /// The uplinks of a multipath route.
    let legs = Mutex<[LabInterface]>([])

    init(_ world: World) throws {
        self.world = world
        // A dead name server shall be dead soon.
        let resolver = "nameserver 192.0.2.1\noptions timeout:1 attempts:1\n"
        self.lab = try NetworkNamespace(resolverConfiguration: world == .named ? resolver : nil)
        self.targets =
            switch world {
            case .ipv4: [Self.target]
            case .ipv6: ["[\(Self.target6)]"]
            case .dual: [Self.target, "[\(Self.target6)]"]
            case .named: ["target.example"]
            }
        self.wan = try self.lab.addUplink("wan0")
        try self.connect(self.wan, number: 1, metric: nil)
        try self.lab.runOnFarSide(
            """
            ip address add \(Self.target)/32 dev lo
            ip address add \(Self.target6)/128 dev lo
            """
        )
        try self.replaceServer(.listening)
        if world == .named { try self.setNameServer(true) }
        try self.setResolverMark()
    }

    var peer: String { self.wan.peerName ?? "" }

    /// Gives an uplink addresses and default routes, and the gateway at its other end too.
    private func connect(_ uplink: LabInterface, number: Int, metric: Int?) throws {
        let network = number == 1 ? "192.0.2" : "203.0.113"
        let peer = uplink.peerName ?? ""
        let metric = metric.map { "metric \($0)" } ?? ""
        var near: [String] = []
        var far: [String] = []
        if self.world != .ipv6 {
            near += ["address add \(network).2/24 dev \(uplink.name)"]
            near += ["route add default via \(network).1 dev \(uplink.name) \(metric)"]
            far += ["address add \(network).1/24 dev \(peer)"]
        }
        if self.world == .ipv6 || self.world == .dual {
            near += ["address add 2001:db8:\(number)::2/64 dev \(uplink.name) nodad"]
            near += ["-6 route add default via 2001:db8:\(number)::1 dev \(uplink.name) \(metric)"]
            far += ["address add 2001:db8:\(number)::1/64 dev \(peer) nodad"]
        }
        try self.lab.runOnFarSide(far.map { "ip \($0)" }.joined(separator: " && "))
        try self.lab.run(near.map { "ip \($0)" }.joined(separator: " && "))
    }

    /// Adds the second uplink, wan1, with a route of a higher metric through a second gateway.
    @discardableResult
    func addBackup() throws -> LabInterface {
        let backup = try self.lab.addUplink("wan1")
        try self.connect(backup, number: 2, metric: 600)
        return backup
    }

    /// Ends the server, and starts another one unless it is nil; in between, connections are refused.
    func replaceServer(_ behavior: LabServer.Behavior?) throws {
        try self.current.withLock { current in
            try current.server?.stop()
            let server = try behavior.map { try self.lab.startServer($0, ports: Column.ports) }
            current = (server, behavior != nil && behavior != .full)
        }
    }

    /// Lets a server whose queue is full accept again.
    func makeRoom() {
        self.current.withLock { current in
            current.server?.makeRoom()
            current.isListening = true
        }
    }

    /// Starts or ends the name server.
    func setNameServer(_ isRunning: Bool) throws {
        try self.names.withLock { server in
            try server?.stop()
            server = isRunning ? try self.lab.startNameServer(on: "192.0.2.1", answering: Self.target) : nil
        }
    }

    /// Takes the target away from the far side, and forwards packets to it as a route of the given type says.
    func replaceTarget(by route: String) throws {
        try self.lab.runOnFarSide(
            """
            echo 1 >/proc/sys/net/ipv4/ip_forward && ip address del \(Self.target)/32 dev lo &&
            ip route add \(route) \(Self.target)
            """
        )
    }
}

// What the scenarios need.
extension Stage {
    /// Adds a persistent tun device with a program that holds it open.
    func addTun(_ name: String, addresses: [String]) throws -> TunDevice {
        let device = try self.lab.addTun(name, addresses: addresses, isPersistent: true)
        self.devices.withLock { $0.append(device) }
        return device
    }
}

// What the runs need.
extension Stage {
    /// The file in which the monitors look for DNS servers.
    var resolverFile: String { "\(self.lab.directory)/resolv.conf" }

    /// Names another DNS server in the file that the monitors read; none of them asks it anything.
    ///
    /// A monitor that reports this server has processed everything that happened before, since netlink's events arrive
    /// in order and a poll reads everything anew.
    ///
    /// - Returns: The server's address.
    @discardableResult
    func setResolverMark() throws -> String {
        let number = self.marks.withLock { number in
            number += 1
            return number
        }
        let address = "192.0.2.\(100 + number)"
        try "nameserver \(address)\n".write(toFile: self.resolverFile, atomically: true, encoding: .utf8)
        return address
    }

    /// Starts the program as a column says.
    func start(_ column: Column, by launcher: Launcher) throws -> MonitorProcess {
        let path = "\(self.lab.directory)/\(column.rawValue).yaml"
        try column.configuration(targets: self.targets, resolverFile: self.resolverFile)
            .write(toFile: path, atomically: true, encoding: .utf8)
        let words = try launcher.words + [Self.program, "watch", "--json", "--config", path]
        let monitor = try self.lab.start(words[0], Array(words.dropFirst()))
        self.watches.withLock { $0.append(monitor) }
        return monitor
    }

    /// Asks the program why there is a path or none, by the netlink backend.
    func explain() throws -> Advice {
        let path = "\(self.lab.directory)/explain.yaml"
        try "backends: [{type: netlink, resolvConf: \(self.resolverFile)}]\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        // Its exit code says what the status is.
        let output = try self.lab.run("\(try Self.program) explain --json --config \(path) || true")
        let document = try JSONValue(json: output)
        var advice = Advice(document["reason"]?["message"]?.string ?? "")
        advice.remedies = document["remedies"]?.elements.compactMap(\.string) ?? []
        return advice
    }

    /// Sends all monitors a signal.
    func signalMonitors(_ signal: MonitorProcess.Signal) {
        for monitor in self.watches.withLock(\.self) { monitor.sendSignal(signal) }
    }

    func forgetConnections() throws {
        try self.current.withLock { try $0.server?.forgetConnections() }
    }

    /// Waits for another connection of the lone probe, so that its answer is one about the network as it is now.
    func awaitProbe(for cell: Cell) throws {
        try self.current.withLock { current in
            guard cell == .answered, current.isListening else { return }
            try current.server?.nextConnection(to: Column.tcpProbe.port)
        }
    }

    /// The program under test: the one named by NETPATH_BINARY, else the one built with the tests.
    private static var program: String {
        get throws {
            try ProcessInfo.processInfo.environment["NETPATH_BINARY"] ?? MonitorProcess.builtProduct("netpath")
        }
    }
}
