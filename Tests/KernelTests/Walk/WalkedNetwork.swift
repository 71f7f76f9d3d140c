// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// A namespace that walks through its states together with the model, and the marks that tell how far a monitor is.
///
/// The marks are name servers in a private resolver file. Unlike an address, a name server changes nothing in the
/// network, so the kernel's own cleaning up after the last address can be walked through, too. A monitor may read the
/// file after it has looked at the network, so one mark tells little; but whoever shows a mark that was set when it
/// showed another one has looked at the network in between.
struct WalkedNetwork {
    /// What a monitor's configuration has to say: the model's tunnels need nothing to travel on.
    static let rules = "interfaces: [{match: {kind: vxlan}, uplink: true}]\n"

    let lab: NetworkNamespace
    let resolverFile: String
    private let beyond: String
    private var marks = 0

    init(ignoresRoutesWithoutCarrier: Bool) throws {
        self.lab = try NetworkNamespace()
        self.resolverFile = "\(self.lab.directory)/resolv.conf"
        self.beyond = "\(self.lab.directory)/beyond"
        try self.write(server: "198.18.0.0")
        try self.lab.run("touch \(self.beyond) && unshare --net=\(self.beyond) true")
        try self.ignoreRoutesWithoutCarrier(ignoresRoutesWithoutCarrier)
    }

    /// Says whether routes without a carrier count, of interfaces that are made from now on.
    func ignoreRoutesWithoutCarrier(_ isIgnored: Bool) throws {
        for family in ["ipv4", "ipv6"] {
            try self.lab.setParameter("net/\(family)/conf/default/ignore_routes_with_linkdown", to: isIgnored ? 1 : 0)
        }
    }

    /// Does a step, and returns when the kernel is through with it.
    func take(_ step: Walk.Step) throws {
        try self.lab.run(self.script(step))
    }

    /// Waits until a program has seen everything until now.
    ///
    /// - Returns: What it says then.
    mutating func settled(_ monitor: MonitorProcess, within patience: Duration) throws -> JSONLine {
        let first = try self.mark()
        try monitor.next(timeout: patience) { $0["dnsServers"] == [.string(first)] }
        let second = try self.mark()
        return try monitor.next(timeout: patience) { $0["dnsServers"] == [.string(second)] }
    }

    /// Sets a mark that monitors which read ``resolverFile`` will show; at most 65,535 times.
    mutating func mark() throws -> String {
        self.marks += 1
        let server = "198.18.\(self.marks >> 8).\(self.marks & 255)"
        try self.write(server: server)
        return server
    }

    private func write(server: String) throws {
        try "nameserver \(server)\n".write(toFile: self.resolverFile, atomically: true, encoding: .utf8)
    }

    private func script(_ step: Walk.Step) -> String {
        var script = "set -e\n" + step.commands.script(beyond: self.beyond)
        // The carrier follows in the kernel's own time; the last command waits for the lock under which it tells.
        for interface in step.settling {
            script += """
                tries=0
                until
                    read -r state </sys/class/net/\(interface.name)/operstate
                    case $state in \(interface.operationalStates.joined(separator: "|"))) true ;; *) false ;; esac
                do
                    tries=$((tries + 1))
                    [ $tries -lt 4000 ] || { echo "\(interface.name) stays $state" >&2; exit 1; }
                    sleep 0.01
                done

                """
        }
        if !step.settling.isEmpty { script += "ip link set lo up\n" }
        return "( \(script) )"
    }
}

extension WalkCommand {
    fileprivate var line: String {
        switch self {
        case .ip(let line), .ipv6(let line), .beyond(let line): line
        }
    }

    fileprivate func isOfSameKind(as other: WalkCommand) -> Bool {
        switch (self, other) {
        case (.ip, .ip), (.ipv6, .ipv6), (.beyond, .beyond): true
        default: false
        }
    }
}

extension [WalkCommand] {
    /// The commands in the shell's language; as few processes as their order allows.
    ///
    /// - Parameters:
    ///   - beyond: The file of the namespace beyond.
    ///   - options: Options for `ip`.
    /// - Returns: The script.
    func script(beyond: String, options: String = "") -> String {
        self.chunked().map { group in
            let enter =
                switch group[0] {
                case .ip: "ip"
                case .ipv6: "ip -6"
                case .beyond: "nsenter --net=\(beyond) ip"
                }
            let lines = group.map { $0.line.replacing("netns FAR", with: "netns \(beyond)") }
            return "\(enter) \(options) -batch - <<'END'\n\(lines.joined(separator: "\n"))\nEND\n"
        }.joined()
    }

    /// Runs of commands of the same kind.
    fileprivate func chunked() -> [[WalkCommand]] {
        self.reduce(into: []) { chunks, command in
            if let last = chunks.last?.last, last.isOfSameKind(as: command) {
                chunks[chunks.count - 1].append(command)
            } else {
                chunks.append([command])
            }
        }
    }
}
