// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The name servers, the ways in which their files change, and whether the kernel would send to them.
@Suite(.needsNamespaces)
struct ResolverTests {
    @Test func everyWayOfChangingTheFileIsSeen() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let first = try watched.expect("satisfied", "routed")
        #expect(first.dnsServers == ["192.0.2.53"])
        #expect(first["supportsDNS"] == true)

        func expectServers(_ servers: [String], after command: String) throws {
            try lab.run(command)
            let line = try watched.monitor.next { $0.dnsServers == servers }
            #expect(line["status"] == "satisfied", "\(command)")
        }
        try expectServers(["192.0.2.54"], after: "echo nameserver 192.0.2.54 >/etc/resolv.conf")
        try expectServers(
            ["192.0.2.55"],
            after: "echo nameserver 192.0.2.55 >/etc/new && mv /etc/new /etc/resolv.conf"
        )
        try expectServers(
            ["192.0.2.56"],
            after: "mkdir /etc/a && echo nameserver 192.0.2.56 >/etc/a/f && ln -sf a/f /etc/resolv.conf"
        )
        try expectServers(["192.0.2.57"], after: "echo nameserver 192.0.2.57 >/etc/a/f")
        try expectServers(
            ["192.0.2.58"],
            after: "echo nameserver 192.0.2.58 >/etc/a/g && ln -sf /etc/a/g /etc/resolv.conf"
        )
        try expectServers([], after: "rm /etc/a/g && : >/etc/a/g")
        try expectServers(
            ["192.0.2.59", "fe80::1%wan0"],
            after: "printf 'nameserver 192.0.2.59\\nnameserver fe80::1%%wan0\\n' >/etc/a/h && mv /etc/a/h /etc/a/g"
        )
    }

    /// The kernel tells of the change once, and not when there are descriptors again.
    @Test func withoutDescriptorsTheServersStayAndAreReadLater() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        try watched.expect("satisfied", "routed")
        let process = watched.monitor.processIdentifier
        // What it opens while it starts is closed then.
        try watched.monitor.waitForRest()
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        let numbers = Set(names.compactMap { Int($0) })
        let lowest = try #require((0...1_000).first { !numbers.contains($0) })
        try lab.run("prlimit --pid \(process) --nofile=\(lowest):1024")
        try lab.run("echo nameserver 192.0.2.54 >/etc/resolv.conf")
        let line = try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        #expect(line.dnsServers == ["192.0.2.53"])
        try lab.run("prlimit --pid \(process) --nofile=1024:1024")
        try watched.monitor.next { $0.dnsServers == ["192.0.2.54"] }
    }

    @Test func behindAStubWhatItForwardsToCounts() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 127.0.0.53\n")
        try lab.listUpstream("198.51.100.53", "198.51.100.54")
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let first = try watched.expect("satisfied", "routed")
        #expect(first.dnsServers == ["198.51.100.53", "198.51.100.54"])
        #expect(first.reachableServers == [true, true])
        #expect(first["supportsDNS"] == true)

        func expect(_ reachable: [JSONValue], _ supported: Bool, after command: String) throws {
            try lab.run(command)
            let line = try watched.monitor.next { $0.reachableServers == reachable }
            #expect(line["supportsDNS"] == .bool(supported), "\(command)")
            #expect(line["status"] == "satisfied", "\(command)")
        }
        // Nothing but the way to a server changes.
        try expect([true, false], true, after: "ip route add blackhole 198.51.100.54")
        try expect([false, false], false, after: "ip route add unreachable 198.51.100.53")
        try expect([true, false], true, after: "ip route del unreachable 198.51.100.53")
        let upstream = "/run/systemd/resolve/resolv.conf"
        let none = "echo '# No DNS servers known.' >\(upstream).new"
        try expect([], false, after: "\(none) && mv \(upstream).new \(upstream)")
        try expect([true], true, after: "echo nameserver 192.0.2.53 >\(upstream)")
        let last = try watched.expect("unsatisfied", "noCarrier") { try wan.setPeerCarrier(false) }
        #expect(last["supportsDNS"] == false)
    }

    @Test func aResolverOfOnesOwnAndServersOnTheLink() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 127.0.0.1\n")
        try lab.listUpstream("198.51.100.53")
        try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let watched = try Watched(lab)
        let first = try watched.expect("satisfied", "routed")
        #expect(first.dnsServers == ["127.0.0.1"])
        #expect(first.reachableServers == [true])
        let servers = ["fe80::1%%wan0", "fe80::1%%wan7", "fe80::1"].map { "nameserver \($0)\\n" }.joined()
        try lab.run("printf '\(servers)' >/etc/resolv.conf")
        // There is no link-local address to send from yet.
        let line = try watched.monitor.next { $0.reachableServers == [false, false, false] }
        #expect(line["supportsDNS"] == false)
        try lab.ip("address add fe80::2/64 dev wan0 nodad")
        try watched.monitor.next { $0.reachableServers == [true, false, false] && $0["supportsDNS"] == true }
        try lab.ip("link set wan0 name wan7")
        try watched.monitor.next { $0.reachableServers == [false, true, false] }
    }
}

extension NetworkNamespace {
    /// Lists the servers that systemd-resolved forwards to, in a `/run` of this namespace's own.
    func listUpstream(_ servers: String...) throws {
        try self.run("mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/resolve")
        let lines = servers.map { "nameserver \($0)\\n" }.joined()
        try self.run("printf '\(lines)' >/run/systemd/resolve/resolv.conf")
    }
}

extension JSONLine {
    /// Of each name server whether it can be reached.
    fileprivate var reachableServers: [JSONValue] {
        self["nameServers"]?.elements.compactMap { $0["reachable"] } ?? []
    }
}
