// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTCPProbe
import Testing

struct ProbeTargetTests {
    @Test func addresses() throws {
        let target = try ProbeTarget("203.0.113.7:443")
        #expect(target.host == .address(InternetAddress(ipv4: 0xCB00_7107), zone: nil))
        #expect(target.port == 443)
        #expect(target.text == "203.0.113.7:443")
        let address = try #require(InternetAddress("2001:db8::7"))
        #expect(try ProbeTarget("[2001:db8::7]:65535").host == .address(address, zone: nil))
        let linkLocal = try #require(InternetAddress("fe80::1"))
        #expect(try ProbeTarget("[fe80::1%eth0.7]:1").host == .address(linkLocal, zone: "eth0.7"))
    }

    @Test(arguments: ["localhost", "example.net", "example.net.", "a-b.c_d.e7", "1.2.3.4x", "xn--bcher-kva.example"])
    func names(name: String) throws {
        #expect(try ProbeTarget("\(name):80").host == .name(name))
    }

    static let faults: [(String, String)] = [
        ("", "has no host"), ("example.net", "has no port"), ("203.0.113.7", "has no port"), ("a:", "1 to 65535"),
        ("[2001:db8::7]", "has no port"), ("[2001:db8::7]443", "after the bracket"), (":443", "has no host"),
        ("2001:db8::7:443", "brackets"), ("2001:db8::7", "brackets"), ("https://example.net:443", "URL"),
        ("[2001:db8::7:443", "closing bracket"), ("[203.0.113.7]:443", "no IPv6 address"), ("[]:443", "no IPv6"),
        ("[example.net]:443", "no IPv6 address"), ("[fe80::1%]:80", "zone"), ("[fe80::1%a b]:80", "zone"),
        ("[fe80::1%sixteen-octets-x]:80", "zone"), ("a:0", "1 to 65535"), ("a:65536", "1 to 65535"),
        ("a:080", "1 to 65535"), ("a:+80", "1 to 65535"), ("a:http", "1 to 65535"), ("a:8\u{0660}", "1 to 65535"),
        ("256.1.1.1:80", "IPv4 address"), ("1.2.3:80", "IPv4 address"), ("01.2.3.4:80", "IPv4 address"),
        ("a..b:80", "empty"), (".a:80", "empty"), ("b\u{FC}cher.example:80", "Punycode"), ("a b:80", "letters"),
        ("-a:80", "letters"), ("a-:80", "letters"), ("user@host:80", "letters"), ("host/path:80", "letters"),
        (String(repeating: "a", count: 64) + ":80", "63"), (String(repeating: "a.", count: 130) + "a:80", "253"),
    ]

    @Test(arguments: faults)
    func whatIsWrongIsSaidWithExamples(text: String, fault: String) {
        let error = #expect(throws: ProbeTargetError.self) { try ProbeTarget(text) }
        #expect(error?.description.contains(fault) == true, "\(error?.description ?? "nothing")")
        #expect(error?.description.hasSuffix("write 203.0.113.7:443, [2001:db8::7]:443 or example.net:443") == true)
    }
}
