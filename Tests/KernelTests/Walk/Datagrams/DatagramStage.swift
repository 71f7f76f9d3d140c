// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// The namespace in which a walk with datagrams is taken.
final class DatagramStage {
    let lab: NetworkNamespace
    private let network: DatagramNetwork
    private let router: MonitorProcess
    private let far: String
    private var tunnel: DatagramTunnel?
    private var configuration = ""
    private var marks = 0

    init(_ network: DatagramNetwork, without faults: Set<Fault>) throws {
        self.network = network
        self.lab = try NetworkNamespace()
        self.far = try self.lab.farSidePath()
        self.router = try self.lab.startAnsweringRouter(
            innerAddresses: network.tunnel.map { $0.families.map($0.address) } ?? []
        )
        // Link-local addresses as everywhere, but without the second that the detection of duplicates takes; and no
        // filter by source, which no route tells of.
        try self.lab.run(
            """
            cd /proc/sys/net
            for set in all default; do
                echo 0 >ipv4/conf/$set/rp_filter; echo 0 >ipv6/conf/$set/accept_dad
                for family in ipv4 ipv6; do
                    echo \(network.ignoresRoutesWithoutCarrier ? 1 : 0) >$family/conf/$set/ignore_routes_with_linkdown
                done
            done
            echo 0 >ipv6/conf/default/addr_gen_mode
            """
        )
        try self.run(network.preparation(without: faults), isForced: false, faults: faults)
        try self.startTunnel(without: faults)
        try self.run(network.configuringTunnel(without: faults), isForced: false, faults: faults)
    }

    /// Does a step, and returns when the kernel is through with it.
    func take(_ step: DatagramWalk.Step) throws {
        // Whom IPv6 still believes to be there would depend on how long the steps before took.
        try self.lab.run("ip neigh flush all")
        if step.isMended {
            if step.fault == .tunnelEnded { try self.startTunnel(without: step.faults) }
            try self.run(self.network.mending(step.fault, without: step.faults), isForced: false, faults: step.faults)
        } else {
            if step.fault == .tunnelEnded { try self.tunnel?.close() }
            try self.run(self.network.breaking(step.fault), isForced: true, faults: step.faults)
        }
    }

    private func startTunnel(without faults: Set<Fault>) throws {
        guard let endpoint = self.network.endpoint, !faults.contains(.tunnelEnded) else { return }
        self.tunnel = try self.lab.addDatagramTunnel(
            DatagramNetwork.Tunnel.name,
            to: endpoint,
            options: self.network.endpointOptions
        )
    }

    private func run(_ commands: [WalkCommand], isForced: Bool, faults: Set<Fault>) throws {
        let script = commands.script(beyond: self.far, options: isForced ? "-force" : "")
        try self.lab.run(
            "( set -e\n\(isForced ? "{ true\n\(script)} 2>/dev/null || true\n" : script)\(self.settling(faults)) )"
        )
    }

    /// Waits until the kernel has settled what it settles in its own time; the last command waits for the lock under
    /// which it tells.
    private func settling(_ faults: Set<Fault>) -> String {
        let waits = self.network.uplinks.filter { !faults.contains(.uplinkRemoved($0.number)) }.map { uplink in
            let isUp =
                !faults.contains(.uplinkDown(uplink.number)) && !faults.contains(.cableOut(uplink: uplink.number))
            return """
                until
                    read -r state </sys/class/net/\(uplink.name)/operstate
                    case $state in \(isUp ? "up" : "down|lowerlayerdown")) true ;; *) false ;; esac
                do
                    tries=$((tries + 1))
                    [ $tries -lt 1000 ] || { echo "\(uplink.name) stays $state" >&2; exit 1; }
                    sleep 0.01
                done

                """
        }
        return "tries=0\n\(waits.joined())ip link set lo up\n"
    }

    // MARK: The program under test

    /// Starts the program, with netlink alone and some rules.
    func startMonitor(rules: String) throws -> MonitorProcess {
        let resolver = "\(self.lab.directory)/resolv.conf"
        try self.write(mark: "198.18.0.0")
        self.configuration = "\(self.lab.directory)/netpath.yaml"
        try "backends: [{type: netlink, resolvConf: \(resolver)}]\n\(rules)"
            .write(toFile: self.configuration, atomically: true, encoding: .utf8)
        return try self.lab.start(WalkEnvironment.program, ["watch", "--json", "--config", self.configuration])
    }

    /// Waits until the program has seen everything until now, as ``WalkedNetwork`` does.
    ///
    /// - Returns: What it says then.
    func settled(_ monitor: MonitorProcess) throws -> JSONLine {
        _ = try self.marked(monitor)
        return try self.marked(monitor)
    }

    private func marked(_ monitor: MonitorProcess) throws -> JSONLine {
        self.marks += 1
        let mark = "198.18.\(self.marks >> 8).\(self.marks & 255)"
        try self.write(mark: mark)
        return try monitor.next(timeout: WalkEnvironment.patience) { $0["dnsServers"] == [.string(mark)] }
    }

    private func write(mark: String) throws {
        try "nameserver \(mark)\n"
            .write(toFile: "\(self.lab.directory)/resolv.conf", atomically: true, encoding: .utf8)
    }

    /// What a program says that is started now.
    var fresh: FreshLook {
        get throws { FreshLook(in: self.lab, of: try WalkEnvironment.program, configuration: self.configuration) }
    }

    /// What a person would look at.
    func state() throws -> String {
        try self.lab.run("ip -br addr; ip rule; ip route show table all | grep -v '^broadcast\\|^local\\|^ff00'")
    }
}
