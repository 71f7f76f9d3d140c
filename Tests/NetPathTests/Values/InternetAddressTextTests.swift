// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@Suite struct InternetAddressTextTests {
    @Test(arguments: [
        ("0.0.0.0", UInt32(0)), ("192.0.2.7", 0xC000_0207), ("255.255.255.255", .max), ("1.2.3.4", 0x0102_0304),
    ])
    func parsesAndFormatsIPv4(text: String, bits: UInt32) throws {
        let address = try #require(InternetAddress(text))
        #expect(address == InternetAddress(ipv4: bits))
        #expect(address.description == text)
    }

    /// RFC 5952 section 4 and 5: lower case, no leading zeros, the longest run of zeros shortened, the first of equals,
    /// never a single group, mapped addresses dotted.
    @Test(arguments: [
        ("::", "::"),
        ("0:0:0:0:0:0:0:0", "::"),
        ("::1", "::1"),
        ("1::", "1::"),
        ("2001:DB8::1", "2001:db8::1"),
        ("2001:0db8:0000:0000:0000:0000:0002:0001", "2001:db8::2:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:0:0:2:3:4:5:6", "1::2:3:4:5:6"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"),
        ("fe80::", "fe80::"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("::ffff:c000:201", "::ffff:192.0.2.1"),
        ("::192.0.2.1", "::c000:201"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
    ])
    func parsesAndFormatsIPv6(text: String, canonical: String) throws {
        let address = try #require(InternetAddress(text))
        #expect(address.family == .ipv6)
        #expect(address.description == canonical)
        #expect(InternetAddress(canonical) == address)
    }

    @Test(arguments: [
        "", " ", ".", "...", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.1000", "01.2.3.4", "1.2.3.00", "1.2.3.-4",
        "1.2.3.+4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.0x4", "1.2.3.4/24", "1.2.3.4:80", "1..2.3", "1.2.3.٤", "host",
    ])
    func refusesWhatIsNotIPv4(text: String) {
        #expect(InternetAddress(text) == nil)
    }

    @Test(arguments: [
        ":", ":::", "::::", "1:::2", "1::2::3", "::1::", ":1::2", "1::2:", ":1", "1:", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "12345::", "::g", "::+1",
        "::-1", "::0x1", "fe80::1%eth0", "fe80::1%1", "[::1]", "::1/128", " ::1", "::1 ", "::1.2.3", "::1.2.3.256",
        "::01.2.3.4", "::1.2.3.4:5", "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "::ffff:1.2.3.4.5", "1.2.3.4::1", "::é",
    ])
    func refusesWhatIsNotIPv6(text: String) {
        #expect(InternetAddress(text) == nil)
    }

    @Test func everyAddressSurvivesItsText() throws {
        var generator = SeededGenerator(seed: 5952)
        for _ in 0..<5_000 {
            let short = InternetAddress(ipv4: .random(in: 0 ... .max, using: &generator))
            #expect(InternetAddress(short.description) == short)
            // Groups of zeros have to be common for the shortening to be tried at all.
            let bits = (0..<8).reduce(UInt128(0)) { bits, _ in
                let group = Bool.random(using: &generator) ? 0 : UInt16.random(in: 0 ... .max, using: &generator)
                return bits << 16 | UInt128(group)
            }
            let long = InternetAddress(ipv6: bits)
            #expect(InternetAddress(long.description) == long)
        }
    }

    @Test func bytesAreInNetworkOrder() {
        #expect(InternetAddress(bytes: [192, 0, 2, 7])?.description == "192.0.2.7")
        #expect(InternetAddress(bytes: [192, 0, 2, 7])?.bytes == [192, 0, 2, 7])
        let bytes = (1...16).map { UInt8($0) }
        #expect(InternetAddress(bytes: bytes)?.description == "102:304:506:708:90a:b0c:d0e:f10")
        #expect(InternetAddress(bytes: bytes)?.bytes == bytes)
        for count in [0, 3, 5, 15, 17, 32] {
            #expect(InternetAddress(bytes: Array(repeating: 255, count: count)) == nil)
        }
    }

    @Test(arguments: [
        ("169.254.0.0", true), ("169.254.255.255", true), ("169.253.255.255", false), ("169.255.0.0", false),
        ("fe80::", true), ("febf:ffff::", true), ("fec0::", false), ("fe7f:ffff::", false), ("::a9fe:1", false),
    ])
    func knowsLinkLocalAddresses(text: String, isLinkLocal: Bool) throws {
        #expect(try #require(InternetAddress(text)).isLinkLocal == isLinkLocal)
    }

    @Test(arguments: ["192.0.2.7/24", "0.0.0.0/0", "2001:db8::7/128"])
    func prefixesSurviveTheirText(_ text: String) {
        #expect(AddressPrefix(text)?.description == text)
    }

    @Test(arguments: [
        "192.0.2.7", "192.0.2.7/", "192.0.2.7/33", "192.0.2.7/+1", "192.0.2.7/024", "/24", "::/129", "::/1/2",
    ])
    func whatIsNoPrefix(_ text: String) {
        #expect(AddressPrefix(text) == nil)
    }

    @Test func ordersByFamilyThenNumber() throws {
        let sorted = ["0.0.0.1", "255.0.0.0", "::", "::1", "2001:db8::"]
        #expect(try sorted.reversed().map { try #require(InternetAddress($0)) }.sorted().map(\.description) == sorted)
    }
}
