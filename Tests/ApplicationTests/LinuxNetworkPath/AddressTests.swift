// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import LinuxNetworkPath
import Testing

/// Addresses, hosts, ports and endpoints, as Apple's overlay treats them.
@Suite struct AddressTests {
    @Test func hosts() {
        #expect(NWEndpoint.Host("192.0.2.1") == .ipv4(IPv4Address(Data([192, 0, 2, 1])) ?? .any))
        #expect("\(NWEndpoint.Host("2001:DB8::0:1"))" == "2001:db8::1")
        #expect(NWEndpoint.Host("::ffff:1.2.3.4") == .ipv4(IPv4Address("1.2.3.4") ?? .any))
        #expect(NWEndpoint.Host("example.net") == .name("example.net", nil))
        #expect(NWEndpoint.Host("example.net%nowhere0") == .name("example.net%nowhere0", nil))
        #expect("localhost" as NWEndpoint.Host == .name("localhost", nil))
    }

    @Test func hostsOnAnInterface() {
        // Every machine has lo.
        let address = IPv6Address("fe80::1%lo")
        #expect(address?.interface?.name == "lo")
        #expect(address?.interface?.type == .loopback)
        #expect(address?.debugDescription == "fe80::1%lo")
        #expect(NWEndpoint.Host("fe80::1%lo").interface?.index == 1)
        #expect("\(NWEndpoint.Host("printer%lo"))" == "printer%lo")
        #expect(IPv4Address("169.254.8.8%lo")?.debugDescription == "169.254.8.8%lo")
        #expect(IPv6Address("fe80::1%nowhere0") == nil)
    }

    @Test func ports() {
        #expect(NWEndpoint.Port("https") == .https)
        #expect(NWEndpoint.Port("8080")?.rawValue == 8080)
        #expect(NWEndpoint.Port("65536") == nil)
        #expect(NWEndpoint.Port("no such service") == nil)
        #expect("\(NWEndpoint.Port.imaps)" == "993")
        let all: [NWEndpoint.Port] = [.any, .ssh, .smtp, .http, .pop, .imap, .https, .imaps, .socks]
        #expect(all.map(\.rawValue) == [0, 22, 25, 80, 110, 143, 443, 993, 1080])
    }

    @Test func texts() throws {
        #expect("\(NWEndpoint.hostPort(host: "192.0.2.1", port: 443))" == "192.0.2.1:443")
        #expect("\(NWEndpoint.hostPort(host: "fe80::1%lo", port: 443))" == "fe80::1%lo.443")
        #expect("\(NWEndpoint.hostPort(host: "example.net", port: .http))" == "example.net:80")
        let service = NWEndpoint.service(name: "a", type: "_http._tcp.", domain: "local.", interface: nil)
        #expect("\(service)" == "a._http._tcp.local.")
        #expect("\(NWEndpoint.unix(path: "/run/x"))" == "/run/x")
        #expect("\(NWEndpoint.url(try #require(URL(string: "http://[::1]/"))))" == "http://[::1]/")
    }

    @Test func kindsOfIPv4Addresses() {
        #expect(IPv4Address.loopback.isLoopback)
        #expect(IPv4Address("127.0.0.2")?.isLoopback == false)
        #expect(IPv4Address("169.254.0.1")?.isLinkLocal == true)
        #expect(IPv4Address("169.255.0.1")?.isLinkLocal == false)
        #expect(IPv4Address.mdnsGroup.isMulticast && !IPv4Address.broadcast.isMulticast)
        #expect(IPv4Address("::1") == nil && IPv4Address("192.0.2") == IPv4Address("192.0.0.2"))
        #expect(IPv4Address(Data([1, 2, 3])) == nil)
        #expect(IPv4Address.allReportsGroup.rawValue == Data([224, 0, 0, 22]))
    }

    @Test func kindsOfIPv6Addresses() {
        #expect(IPv6Address.any.isAny && IPv6Address.broadcast == .any)
        #expect(IPv6Address.loopback.isLoopback && !IPv6Address.loopback.isIPv4Compatabile)
        #expect(IPv6Address("::ffff:192.0.2.1")?.isIPv4Mapped == true)
        #expect(IPv6Address("::ffff:192.0.2.1")?.asIPv4 == IPv4Address("192.0.2.1"))
        #expect(IPv6Address("::192.0.2.1")?.isIPv4Compatabile == true)
        #expect(IPv6Address("2002:c000:0201::")?.is6to4 == true)
        #expect(IPv6Address("2002:c000:0201::")?.asIPv4 == nil)
        #expect(IPv6Address("febf::1")?.isLinkLocal == true && IPv6Address("fec0::1")?.isLinkLocal == false)
        #expect(IPv6Address("fd00::1")?.isUniqueLocal == true && IPv6Address("fe00::1")?.isUniqueLocal == false)
        #expect(IPv6Address.linkLocalRouters.multicastScope == .linkLocal)
        #expect(IPv6Address("ff0e::1")?.multicastScope == .global)
        #expect(IPv6Address("ff03::1")?.multicastScope == nil && IPv6Address.any.multicastScope == nil)
        #expect("\(IPv6Address.nodeLocalNodes)" == "ff01::1")
        #expect(IPv6Address("192.0.2.1") == nil && IPv6Address(Data(count: 4)) == nil)
    }
}
