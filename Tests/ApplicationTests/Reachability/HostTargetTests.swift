// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import Reachability

@Suite struct HostTargetTests {
    @Test(
        arguments: [
            ("example.net", "example.net", nil), ("example.net:443", "example.net", 443),
            ("localhost", "localhost", nil),
            ("192.0.2.7", "192.0.2.7", nil), ("192.0.2.7:80", "192.0.2.7", 80), ("2001:db8::7", "2001:db8::7", nil),
            ("[2001:db8::7]", "2001:db8::7", nil), ("[2001:db8::7]:65535", "2001:db8::7", 65535),
        ] as [(String, String, UInt16?)]
    )
    func hosts(text: String, host: String, port: UInt16?) throws {
        let target = try HostTarget(text)
        #expect(target.text == host)
        #expect(target.port == port)
        #expect(target.host == InternetAddress(host).map { .address($0, zone: nil) } ?? .name(host))
    }

    /// Packets go to the IPv4 address.
    @Test(arguments: ["::ffff:192.0.2.7", "[::ffff:c000:207]:443"]) func mappedAddresses(text: String) throws {
        #expect(try HostTarget(text).host == .address(.fixture("192.0.2.7"), zone: nil))
    }

    @Test(arguments: ["fe80::1%eth0", "[fe80::1%eth0]", "[fe80::1%eth0]:443"]) func zones(text: String) throws {
        let target = try HostTarget(text)
        #expect(target.host == .address(.fixture("fe80::1"), zone: "eth0"))
        #expect(target.text == "fe80::1%eth0")
        #expect(try HostTarget(url: "https://[fe80::1%25eth0]:443/").host == target.host)
    }

    @Test(
        arguments: [
            ("https://example.net", "example.net", nil), ("http://example.net:8080/a:b@c?d=e", "example.net", 8080),
            ("ftp://me:secret@[2001:db8::7]:21/x", "2001:db8::7", 21), ("wss://192.0.2.7:/", "192.0.2.7", nil),
        ] as [(String, String, UInt16?)]
    )
    func urls(text: String, host: String, port: UInt16?) throws {
        let target = try HostTarget(url: text)
        #expect(target.text == host)
        #expect(target.port == port)
    }

    @Test(
        arguments: [
            ("", "has no host"), ("two words", "other characters"), ("192.0.2.256", "four numbers up to 255"),
            ("192.0.2", "four numbers up to 255"), ("example.net:", "a port that is not a number"),
            ("example.net:0", "a port that is not a number"), ("example.net:65536", "a port that is not a number"),
            ("example..net", "empty or longer"), ("[2001:db8::7", "closing bracket"),
            ("[192.0.2.7]", "no IPv6 address"),
            ("[2001:db8::7]443", "something else than a port"), ("2001:db8:::7", "no IPv6 address"),
            ("fe80::1%", "a zone that cannot be"), ("192.0.2.7%eth0", "escaped characters"),
            ("b%C3%BCcher.example", "Punycode"), ("%20", "escaped"),
            ("https://example.net", "is a URL"), ("-a.example", "characters"),
            ("b\u{FC}cher.example", "written in Punycode"),
        ]
    )
    func faults(text: String, fault: String) {
        let error = #expect(throws: HostReachabilityError.self) { try HostTarget(text) }
        #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("'\(text)' ") == true)
    }

    @Test func escapedCharactersAreNoHost() {
        let error = #expect(throws: HostReachabilityError.self) { try HostTarget(url: "http://%20/") }
        #expect(error?.fault.hasPrefix("has escaped characters") == true)
    }

    @Test(arguments: ["example.net", "https:///path", "https://", "mailto:me@example.net"])
    func noHostInTheURL(text: String) {
        let error = #expect(throws: HostReachabilityError.self) { try HostTarget(url: text) }
        #expect(error?.text == text)
    }
}
