// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The name servers and the ways in which their file changes.
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
}
