// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// The machine under test, in a namespace, and the internet beyond its uplinks, in another.
final class SetupNetwork {
    let lab: NetworkNamespace
    let resolverFile: String
    private let internet: MonitorProcess
    private var uplinks: [String: LabInterface] = [:]
    private var tunnels: [String: DatagramTunnel] = [:]
    private var tunnelsElsewhere: [String: MonitorProcess] = [:]
    private var marks = 0

    init(_ setup: Setup) throws {
        self.lab = try NetworkNamespace()
        self.resolverFile = "\(self.lab.directory)/resolv.conf"
        self.internet = try self.lab.startAnsweringRouter()
        try self.perform(setup.uplinks.flatMap { [.connect($0.name)] + $0.configure } + setup.prepare)
    }

    /// Does what a step says.
    func perform(_ commands: [Command]) throws {
        for command in commands {
            switch command {
            case .host(let line): try self.lab.ip(line)
            case .shell(let line): try self.lab.run(line)
            case .connect(let name): try self.connect(name)
            case .add(let name): try self.lab.addUplink(name, hasCarrier: false)
            case .plugIn(let name): try self.uplinks[name]?.setPeerCarrier(true)
            case .unplug(let name): try self.uplinks[name]?.setPeerCarrier(false)
            case .start(let tunnel): try self.start(tunnel)
            case .startElsewhere(let tunnel): try self.startElsewhere(tunnel)
            case .stop(let name):
                try self.tunnels.removeValue(forKey: name)?.close()
                try self.tunnelsElsewhere.removeValue(forKey: name)?.stop()
            }
        }
    }

    private func connect(_ name: String) throws {
        self.uplinks[name] = try self.lab.addUplink(name)
        // Neighbours that did not answer are asked again soon, so that no step has to wait for one.
        try self.lab.run(
            """
            ip ntable change name arp_cache dev \(name) retrans 100
            ip ntable change name ndisc_cache dev \(name) retrans 100
            """
        )
    }

    private func start(_ tunnel: Tunnel) throws {
        self.tunnels[tunnel.name] = try self.lab.addDatagramTunnel(
            tunnel.name,
            to: tunnel.endpoint,
            options: tunnel.options
        )
        for line in tunnel.configuration { try self.lab.ip(line) }
    }

    /// Starts the program in a namespace with an uplink of its own, and takes nothing but the interface over here.
    private func startElsewhere(_ tunnel: Tunnel) throws {
        let namespace = "\(self.lab.directory)/elsewhere"
        let farSide = try self.lab.farSidePath()
        try self.lab.run(
            """
            [ -e \(namespace) ] || {
                touch \(namespace) && unshare --net=\(namespace) ip link set lo up &&
                ip link add up0 netns \(namespace) type veth peer name elsewhere netns \(farSide) &&
                nsenter --net=\(farSide) ip link set elsewhere up &&
                nsenter --net=\(namespace) sh -ec '
                    ip link set up0 up
                    ip address add 192.168.9.2/24 dev up0
                    ip route add default via 192.168.9.1 dev up0'
            }
            """
        )
        let enter = "--net=\(namespace)"
        let program = try MonitorProcess.builtProduct("LabPeers")
        let process = try self.lab.start("nsenter", [enter, program, "carry", tunnel.name, tunnel.endpoint])
        try process.next { $0["ready"] == true }
        self.tunnelsElsewhere[tunnel.name] = process
        try self.lab.run("nsenter \(enter) ip link set \(tunnel.name) netns \(self.lab.processIdentifier)")
        for line in ["link set \(tunnel.name) up"] + tunnel.configuration { try self.lab.ip(line) }
    }

    /// Waits until a monitor has seen everything until now.
    ///
    /// A monitor may read the file of name servers after it has looked at the network, so one mark tells little; but
    /// who shows a mark that was set when it showed another one has looked at the network in between.
    ///
    /// - Parameters:
    ///   - monitor: The monitor, which reads ``resolverFile``.
    ///   - seen: Gets every line on the way.
    /// - Returns: What it says then.
    /// - Throws: `LabError` when it does not show the marks.
    func settled(_ monitor: MonitorProcess, seen: (JSONLine) -> Void) throws -> JSONLine {
        try self.awaitMark(monitor, seen: seen)
        return try self.awaitMark(monitor, seen: seen)
    }

    @discardableResult
    private func awaitMark(_ monitor: MonitorProcess, seen: (JSONLine) -> Void) throws -> JSONLine {
        let mark = try self.mark()
        return try monitor.next {
            seen($0)
            return $0["dnsServers"] == [.string(mark)]
        }
    }

    /// Sets a mark that monitors which read ``resolverFile`` show.
    @discardableResult
    func mark() throws -> String {
        self.marks += 1
        let server = "198.18.\(self.marks >> 8).\(self.marks & 255)"
        try "nameserver \(server)\n".write(toFile: self.resolverFile, atomically: true, encoding: .utf8)
        return server
    }

    /// What the kernel has, for whoever has to find out what went wrong.
    func state() throws -> String {
        try self.lab.run(
            """
            { ip -brief link; ip -brief address; bridge fdb; ip neigh; } | sed 's/^/    /'
            for family in -4 -6; do
                ip $family rule | sed 's/^/    rule: /'
                ip $family route show table all | grep -Ev 'table local|^(ff00|multicast)' | sed 's/^/    /'
            done
            """
        )
    }
}
