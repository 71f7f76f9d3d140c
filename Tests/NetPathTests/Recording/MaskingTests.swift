// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPath
@testable import NetPathRecording

/// Nothing that is a secret survives, and what is left still explains a fault.
@Suite struct MaskingTests {
    private func masked(_ text: String) -> String {
        var masking = Masking(hosts: ["lisbon", "lisbon.corp"], users: ["alice"])
        return masking.mask(text)
    }

    /// In the words of `ip -json address`: the label of an address is no network's name.
    @Test func labelsOfAddressesNameInterfaces() {
        var masking = Masking()
        func label(_ label: String, of other: String) -> JSONNode? {
            let node: JSONNode = [other: .integer(24), "label": .string(label)]
            return masking.mask(node)["label"]
        }
        #expect(label("wan0", of: "prefixlen") == .string("wan0"))
        #expect(label("wan0:1", of: "prefixlen") == .string("wan0:1"))
        #expect(label("wan0:home", of: "prefixlen") == .string("wan0:token-1"))
        #expect(label("Home", of: "index") == .string("ssid-1"))
    }

    @Test(
        arguments: [
            ("via 192.168.1.1 dev wlan0", "via 192.168.0.1 dev wlan0"),
            ("10.1.2.3/24, 10.1.2.4 and 10.9.9.9.", "10.0.0.1/24, 10.0.0.2 and 10.0.1.1."),
            ("8.8.8.8:53", "192.0.2.1:53"),
            ("[2a00:1450::200e]:443", "[2001:db8::1]:443"),
            ("fe80::a2:b3ff:fe01:2%wlan0", "fe80::1%wlan0"),
            ("fd12:3456:789a:1::5", "fd00::1"),
            (
                "link/ether 3c:22:fb:01:02:03 brd ff:ff:ff:ff:ff:ff",
                "link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff"
            ),
            ("enx3c22fb010203 is 3C:22:FB:01:02:03", "enx020000000001 is 02:00:00:00:00:01"),
            ("8000.3c:22:fb:01:02:03", "8000.02:00:00:00:00:01"),
            ("10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.2"),
            ("inet6:2a00::1: unreachable", "inet6:2001:db8::1: unreachable"),
            ("::ffff:8.8.8.8", "::ffff:192.0.2.1"),
            ("169.254.7.7 100.64.3.3 224.0.0.251 ff02::1:ff01:203", "169.254.0.1 100.64.0.1 224.0.0.251 ff02::db8:1"),
            (
                "https://alice:pw@portal.hotel.com:8443/login?mac=3c:22:fb:01:02:03).",
                "https://host-1.example:8443/path-1)."
            ),
            ("http://192.168.1.1/", "http://192.168.0.1/"),
            (
                "on lisbon, LISBON.corp and vpn.example.org:443",
                "on host-1.example, host-2.example and host-3.example:443"
            ),
            ("ssid=\"My Home\" psk: hunter2; Bearer abc", "ssid=\"ssid-1\" psk: token-1; Bearer token-2"),
            ("{\"password\": \"x y\"}", "{\"password\": \"token-1\"}"),
            ("token=abc /home/bob/.ssh alice@lisbon", "token=token-1 /home/user-1/.ssh token-2"),
            ("001b638445dd 001b.6384.45EE 001b-6384-45ee", "020000000001 0200.0000.0002 0200-0000-0002"),
            ("\tssid My Home\nssid=Our Home, 5 GHz\nssid: x", "\tssid ssid-1\nssid=ssid-2\nssid: ssid-3"),
            ("b3c8a1f2-1111-4222-8333-944455566677", "token-1"),
            ("wg key AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/ABCDE=", "wg key token-1"),
            // After a keyword without a sign.
            (
                "--password hunter2 -p h/3; passphrase x, password y.",
                "--password token-1 -p token-2; passphrase token-3, password token-4."
            ),
            (
                "wpa_passphrase Home geheim; nmcli d wifi connect Cafe password pw",
                "wpa_passphrase ssid-1 token-1; nmcli d wifi connect ssid-2 password token-2"
            ),
            (
                "Authorization: Bearer a.b and Authorization: Basic QUJD==",
                "Authorization: Bearer token-1 and Authorization: Basic token-2"
            ),
            ("/Users/eve/y ~frank/z C:\\Users\\gina\\a", "/Users/user-1/y ~user-2/z C:\\Users\\user-3\\a"),
            ("user dora login=hans user=ida; uid=1000(karl)", "user user-1 login=user-2 user=user-3; uid=1000(user-4)"),
            ("network Home refuses; connected to Cafe (5 GHz)", "network ssid-1 refuses; connected to ssid-2 (5 GHz)"),
            (
                "wifi Bar has; WLAN Foo down; associate with Baz failed",
                "wifi ssid-1 has; WLAN ssid-2 down; associate with ssid-3 failed"
            ),
            ("IMSI 262011234567890 IMEI 356938035643809", "IMSI token-1 IMEI token-2"),
            ("8949123456789012345 +491701234567 phone 0170123", "token-1 token-2 phone token-3"),
            ("client-id 01001b638445ec at 0x08080404", "client-id token-1 at 0xc0000201"),
            // What stays as it is.
            (
                "the network is unreachable; user namespaces; no password for the user",
                "the network is unreachable; user namespaces; no password for the user"
            ),
            (
                "connected to the network, wifi wlan0 and network namespace 4",
                "connected to the network, wifi wlan0 and network namespace 4"
            ),
            ("user 0 is root, user root, fwmark 0xca6c ~10 ms", "user 0 is root, user root, fwmark 0xca6c ~10 ms"),
            ("at 03:12:30.123 on 2026-11-23 in /etc/resolv.conf", "at 03:12:30.123 on 2026-11-23 in /etc/resolv.conf"),
            (
                "the route to 9.0.0.1 and 2600::1 through lo (127.0.0.1, ::1)",
                "the route to 9.0.0.1 and 2600::1 through lo (127.0.0.1, ::1)"
            ),
            ("wlan0: waiting for an address, 4 s; mtu 1500", "wlan0: waiting for an address, 4 s; mtu 1500"),
            ("Linux 6.1.0-18-amd64, libnl 3.7.0", "Linux 6.1.0-18-amd64, libnl 3.7.0"),
            ("0.0.0.0/0 ::/0 default :: eth0.100 a: b", "0.0.0.0/0 ::/0 default :: eth0.100 a: b"),
            ("123456789012 bytes, 4096 of 65536", "123456789012 bytes, 4096 of 65536"),
        ]
    )
    func texts(_ text: String, _ expected: String) {
        #expect(self.masked(text) == expected)
    }

    @Test(
        arguments: [
            ("associated with \"My Home\" on wlan0", "associated with \"ssid-1\" on wlan0"),
            ("in `Our Home` now", "in `ssid-1` now"),
            ("joined 'cafe', then “Bob's Phone”", "joined 'ssid-1', then “ssid-2”"),
            (
                "no answer from \"10.1.2.3\"; doesn't reach 'vpn.corp.example'",
                "no answer from \"10.0.0.1\"; doesn't reach 'host-1.example'"
            ),
            ("try 'ip route show': it's the kernel's", "try 'ip route show': it's the kernel's"),
        ]
    )
    func sentences(_ text: String, _ expected: String) {
        var masking = Masking()
        #expect(masking.maskProse(text) == expected)
        #expect(masking.mask(.object(["message": .string(text)]))["message"] == .string(expected))
    }

    /// A host of one word is known by the configuration, and masked in what is said of it.
    @Test func hostsOfTheConfigurationAreMaskedInSentences() {
        var masking = Masking()
        _ = masking.maskConfiguration("backends:\n  - type: tcpProbe\n    targets: [\"intranet:443\"]\n")
        let text = masking.maskProse("Probe of intranet:443: its name has no address")
        #expect(text == "Probe of host-1.example:443: its name has no address")
    }

    /// The same thing gets the same mask in every text and value.
    @Test func sameEverywhere() {
        var masking = Masking()
        let first = masking.mask("192.168.1.7 via 3c:22:fb:01:02:03 at example.org")
        let node = masking.mask(
            JSONNode.object([
                "hardwareAddress": .array([0x3C, 0x22, 0xFB, 1, 2, 3].map { .integer($0) }),
                "address": .string("192.168.1.7"), "host": .string("EXAMPLE.org"), "target": .string("intranet:80"),
            ])
        )
        #expect(first == "192.168.0.1 via 02:00:00:00:00:01 at host-1.example")
        #expect(node["hardwareAddress"] == .array([2, 0, 0, 0, 0, 1].map { .integer($0) }))
        #expect(node["address"] == .string("192.168.0.1") && node["host"] == .string("host-1.example"))
        #expect(node["target"] == .string("host-2.example:80"))
        #expect(masking.counts == [.ipv4: 1, .hardware: 1, .host: 2])
    }

    // MARK: Random addresses in random texts

    private func address(_ generator: inout SeededGenerator) -> InternetAddress {
        let prefixes: [UInt32] = [
            0x0A00_0000, 0xAC10_0000, 0xC0A8_0000, 0xA9FE_0000, 0x6440_0000, 0x0800_0000, 0xD000_0000,
        ]
        if Bool.random(using: &generator) {
            let prefix = prefixes.randomElement(using: &generator) ?? 0
            return InternetAddress(ipv4: prefix | UInt32.random(in: 0..<0x1_0000, using: &generator))
        }
        let high: [UInt128] = [0xFE80, 0xFD00, 0x2A02, 0x2001, 0xFF15]
        let low =
            UInt128(generator.next()) << (Bool.random(using: &generator) ? 0 : 40)
            | UInt128(generator.next() & 0xFFFF_FFFF)
        return InternetAddress(
            ipv6: (high.randomElement(using: &generator) ?? 0) << 112 | low & (UInt128(1) << 112 - 1)
        )
    }

    private func hexadecimal(_ bytes: [UInt8], _ separator: String) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
    }

    private func scope(_ address: InternetAddress) -> String {
        let bits = address.bits
        if address.family == .ipv6 {
            return bits >> 118 == 0x3FA
                ? "link" : bits >> 121 == 0x7E ? "private" : bits >> 120 == 0xFF ? "group" : "global"
        }
        switch bits {
        case 0x0A00_0000...0x0AFF_FFFF: return "10"
        case 0xAC10_0000...0xAC1F_FFFF: return "172"
        case 0xC0A8_0000...0xC0A8_FFFF: return "192"
        case 0xA9FE_0000...0xA9FE_FFFF: return "link"
        case 0x6440_0000...0x647F_FFFF: return "shared"
        default: return "global"
        }
    }

    /// Every address comes out as its mask, whatever stands around it; scopes and common networks stay.
    @Test func noAddressSurvives() {
        let around = [
            ("", ""), ("via ", " dev eth0"), ("(", ")"), ("[", "]:443"), ("\"", "\","), ("src=", ";"), ("x/", "/24"),
            ("ü ", " ü"), ("\n", "\t"),
        ]
        for seed in UInt64(1)...500 {
            var generator = SeededGenerator(seed: seed)
            var masking = Masking()
            var text = ""
            var expected = ""
            var reference = Masking()
            for _ in 0..<8 {
                let (before, after) = around.randomElement(using: &generator) ?? ("", "")
                let address = self.address(&generator)
                let bytes = (0..<6).map { _ in UInt8.random(in: 1...254, using: &generator) }
                let separator = Bool.random(using: &generator) ? ":" : "-"
                let mask = reference.mask(address)
                let hardware = reference.addresses.mask(hardware: bytes)
                text += "\(before)\(address)\(after) \(self.hexadecimal(bytes, separator)) "
                expected += "\(before)\(mask)\(after) \(self.hexadecimal(hardware, separator)) "
                #expect(mask != address || address.bits >> 120 == 0xFF || self.scope(address) != "global", "\(address)")
                #expect(self.scope(mask) == self.scope(address), "\(address) as \(mask)")
                #expect(hardware[0] & 1 == bytes[0] & 1)
            }
            #expect(masking.mask(text) == expected, "seed \(seed)")
        }
    }

    @Test func masksAreOfOneEach() {
        var generator = SeededGenerator(seed: 7)
        var masks = AddressMasks()
        var seen: [InternetAddress: InternetAddress] = [:]
        for _ in 0..<20_000 {
            let address = self.address(&generator)
            let mask = masks.mask(address)
            if let other = seen[mask] { #expect(other == address, "\(mask) stands for \(address) and \(other)") }
            seen[mask] = address
            let width = address.family == .ipv4 ? 24 : 64
            let neighbour = InternetAddress.neighbour(of: address)
            #expect(
                self.scope(address) == "group" || AddressPrefix(mask, length: width).contains(masks.mask(neighbour))
            )
            seen[masks.mask(neighbour)] = neighbour
        }
    }

    /// Names and secrets at random, in the places where netpath and `ip` put them.
    @Test func noNameSurvives() {
        for seed in UInt64(1)...500 {
            var generator = SeededGenerator(seed: seed)
            let letters = Array("abcdefghijkmnpqrstuvwxyz")
            func word(_ count: Int) -> String {
                String((0..<count).map { _ in letters.randomElement(using: &generator) ?? "q" })
            }
            let (host, secret, ssid, user) = ("\(word(7)).\(word(6)).org", word(9), word(8) + " " + word(7), word(9))
            let token = word(8) + "42" + word(12) + "7"
            let text = """
                cannot reach \(host):443 (\(host)): timed out; https://\(host)/\(secret)?k=\(token)
                ssid="\(ssid)" psk=\(secret) token: \(token) /home/\(user)/x \(user)@\(host) {"ssid":"\(ssid)"}
                """
            let masked = self.masked(text)
            for name in [host, secret, ssid, user, token] { #expect(!masked.contains(name), "seed \(seed): \(masked)") }
        }
    }

    @Test func configuration() {
        let text = """
            backends:
              - type: exec                               # /home/alice/netpath.yaml:3
                mode: active                             # default
                command:
                  - /usr/bin/python3                     # x:1
                  - "--password=hunter2"
                  - /opt/acme/plugin.py
                environment:
                  - "KEY=abc"
                user: bob
                host: core-router
              - type: httpProbe
                checks:
                  - url: https://portal.acme.com/generate_204
                    body: welcome to acme
              - type: tcpProbe
                targets: ["203.0.113.9:443", intranet:80]
            interfaces:
              - match:
                  mac: "3c:22:fb"
                tunnelEndpoint: [198.51.100.4]
            serve:
              listen: ["intra-box:8080"]
              allowedHosts: [wallboard, "screen.acme.com"]
            damping:
              gain: 0s
            """
        var masking = Masking(users: ["alice"])
        let masked = masking.maskConfiguration(text)
        for secret in [
            "alice", "hunter2", "plugin.py", "abc", "bob", "core-router", "acme", "203.0.113.9", "intranet", "3c:22",
            "wallboard", "intra-box",
        ] {
            #expect(!masked.contains(secret), "\(secret) in \(masked)")
        }
        for kept in [
            "type: exec", "mode: active", "/usr/bin/python3", "\"KEY=argument-", "gain: 0s", "user: user-",
            "https://host-",
        ] {
            #expect(masked.contains(kept), "\(kept) in \(masked)")
        }
        #expect(masked.split(separator: "\n").count == text.split(separator: "\n").count)
    }

    /// A recording that is masked replays, and tells the same story.
    @Test func recordings() throws {
        let folder = ScratchFolder()
        for seed in UInt64(1)...3 {
            var walk = MachineWalk(seed: seed)
            var writer = RecordingWriter(RecordingHeader(netpath: "0", boot: "b3c8a1f2-1111-4222-8333-944455566677"))
            var bytes = try writer.begin(walk.checkpoint, now: (walk.now, 1_790_000_000_000_000_000, 0))
            for _ in 0..<4 {
                let entries = walk.journal(of: 40)
                let now = (walk.now, walk.now.nanoseconds + 1_789_999_000_000_000_000, Int64(0))
                bytes += try writer.lines(of: entries, checkpoint: walk.checkpoint, now: now)
            }
            let recording = try Recording(folder.file("recording", bytes))
            var nothing: Masking?
            let whole = try recording.tail(limit: .max, masking: &nothing)
            let original = try RecordedRun(contentsOf: folder.file("whole", whole))
            #expect(original.paths() == walk.published, "seed \(seed)")
            var masking: Masking? = Masking()
            let masked = try recording.tail(limit: .max, masking: &masking)
            let copy = try RecordedRun(contentsOf: folder.file("masked", masked))
            #expect(copy.paths().map(\.status) == walk.published.map(\.status), "seed \(seed)")
            #expect(copy.paths().map(\.reason.code) == walk.published.map(\.reason.code), "seed \(seed)")
            #expect(copy.recordedStatuses == copy.paths().map(\.status))
            let text = String(decoding: masked, as: UTF8.self)
            #expect(!text.contains("b3c8a1f2"))
            // The end alone is a recording, too.
            let tail = try recording.tail(limit: bytes.count / 3, masking: &masking)
            #expect(tail.count < masked.count)
            let end = try RecordedRun(contentsOf: folder.file("tail", tail)).paths()
            #expect(end.last?.status == walk.machine.path?.status)
        }
    }
}

extension InternetAddress {
    /// The address with its last two bits turned over.
    fileprivate static func neighbour(of address: InternetAddress) -> InternetAddress {
        address.family == .ipv4
            ? InternetAddress(ipv4: UInt32(truncatingIfNeeded: address.bits) ^ 3)
            : InternetAddress(ipv6: address.bits ^ 3)
    }
}
