// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Synchronization

/// What a scenario is played on: a machine with the uplink wan0, and the rest of the world on the far side.
///
/// The far side is the gateway, and the host that probes connect to: its addresses are on the gateway's loopback, one
/// routing decision away.
public final class ScenarioStage: Sendable {
    /// The families of the uplink.
    public enum World: Sendable {
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
        /// Both.
        case dual
        /// IPv4, with the target known by its name only.
        case named
    }

    /// The host that probes connect to, by IPv4.
    public static let target = "198.51.100.7"
    /// The same by IPv6.
    package static let target6 = "2001:db8:ffff::7"

    /// The namespaces.
    public let lab: NetworkNamespace
    /// The uplink wan0.
    public let wan: LabInterface
    /// The hosts to probe.
    public let targets: [String]
    private let world: World
    /// The program under test.
    package let program: String
    /// The server, and whether it tells of connections.
    private let current = Mutex<(server: LabServer?, isListening: Bool)>((nil, false))
    private let names = Mutex<LabServer?>(nil)
    private let marks = Mutex(0)
    private let watches = Mutex<[MonitorProcess]>([])
    /// The uplinks of a multipath route.
    let nextHops = Mutex<[LabInterface]>([])

    package init(_ world: World, program: String) throws {
        self.world = world
        self.program = program
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

    /// The far side's end of the uplink.
    public var peer: String { self.wan.peerName ?? "" }

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
    package func addBackup() throws -> LabInterface {
        let backup = try self.lab.addUplink("wan1")
        try self.connect(backup, number: 2, metric: 600)
        return backup
    }

    /// Ends the server, and starts another one unless it is nil; in between, connections are refused.
    package func replaceServer(_ behavior: LabServer.Behavior?) throws {
        try self.current.withLock { current in
            try current.server?.stop()
            let server = try behavior.map { try self.lab.startServer($0, ports: ScenarioColumn.ports) }
            current = (server, behavior != nil && behavior != .full)
        }
    }

    /// Lets a server whose queue is full accept again.
    package func makeRoom() {
        self.current.withLock { current in
            current.server?.makeRoom()
            current.isListening = true
        }
    }

    /// Starts or ends the name server.
    package func setNameServer(_ isRunning: Bool) throws {
        try self.names.withLock { server in
            try server?.stop()
            server = isRunning ? try self.lab.startNameServer(on: "192.0.2.1", answering: Self.target) : nil
        }
    }

    /// Takes the target away from the far side, and forwards packets to it as a route of the given type says.
    package func replaceTarget(by route: String) throws {
        try self.lab.runOnFarSide(
            """
            echo 1 >/proc/sys/net/ipv4/ip_forward && ip address del \(Self.target)/32 dev lo &&
            ip route add \(route) \(Self.target)
            """
        )
    }
}

// What the runs need.
extension ScenarioStage {
    /// The file in which the monitors look for DNS servers.
    public var resolverFile: String { "\(self.lab.directory)/resolv.conf" }

    /// Names another DNS server in the file that the monitors read; none of them asks it anything.
    ///
    /// A monitor that reports this server has processed everything that happened before, since netlink's events arrive
    /// in order and a poll reads everything anew.
    ///
    /// - Returns: The server's address.
    @discardableResult
    package func setResolverMark() throws -> String {
        let number = self.marks.withLock { number in
            number += 1
            return number
        }
        let address = "192.0.2.\(100 + number)"
        try "nameserver \(address)\n".write(toFile: self.resolverFile, atomically: true, encoding: .utf8)
        return address
    }

    /// Starts the program as a column says.
    package func start(_ column: ScenarioColumn, by launcher: Launcher) throws -> MonitorProcess {
        let path = self.configurationPath(of: column)
        try column.configuration(targets: self.targets, resolverFile: self.resolverFile)
            .write(toFile: path, atomically: true, encoding: .utf8)
        return try self.start(file: path, by: launcher)
    }

    /// Where the configuration of a column is.
    package func configurationPath(of column: ScenarioColumn) -> String {
        "\(self.lab.directory)/\(column.rawValue).yaml"
    }

    /// Starts the program with a configuration.
    package func start(file path: String, by launcher: Launcher) throws -> MonitorProcess {
        let words = launcher.words + [self.program, "watch", "--json", "--config", path]
        let monitor = try self.lab.start(words[0], Array(words.dropFirst()))
        self.watches.withLock { $0.append(monitor) }
        return monitor
    }

    /// Sends all monitors and their plugins a signal: a plugin that goes on reports what the monitor then sees late.
    package func signalMonitors(_ signal: MonitorProcess.Signal) {
        for monitor in self.watches.withLock(\.self) { monitor.sendSignalToAll(signal) }
    }

    package func forgetConnections() throws {
        try self.current.withLock { try $0.server?.forgetConnections() }
    }

    /// Waits for another connection of the lone probe, so that its answer is one about the network as it is now.
    package func awaitProbe(for cell: ScenarioCell) throws {
        try self.current.withLock { current in
            guard cell == .answered, current.isListening else { return }
            try current.server?.nextConnection(to: ScenarioColumn.tcpProbe.port)
        }
    }

    /// The program named by NETPATH_BINARY, else the one built with the tests.
    package static var usualProgram: String {
        get throws { try MonitorProcess.builtProduct("netpath") }
    }
}
