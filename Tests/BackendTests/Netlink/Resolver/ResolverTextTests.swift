// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@Suite struct ResolverTextTests {
    static let table: [(String, [String])] = [
        ("", []),
        ("nameserver 192.0.2.1\n", ["192.0.2.1"]),
        ("nameserver 192.0.2.1", ["192.0.2.1"]),
        ("nameserver\t192.0.2.1 \n", ["192.0.2.1"]),
        ("nameserver   \t 192.0.2.1 # home\n", ["192.0.2.1"]),
        ("nameserver 192.0.2.1\r\nnameserver 192.0.2.2\r\n", ["192.0.2.1", "192.0.2.2"]),
        ("nameserver 2001:db8::53\nnameserver 192.0.2.1\n", ["2001:db8::53", "192.0.2.1"]),
        ("nameserver fe80::1%eth0\n", ["fe80::1%eth0"]),
        ("nameserver fe80::1%\n", ["fe80::1"]),
        ("nameserver %eth0\nnameserver 192.0.2.1\n", ["192.0.2.1"]),
        ("# nameserver 192.0.2.1\n; nameserver 192.0.2.2\n#nameserver 192.0.2.3\n", []),
        ("search example.net\noptions edns0 trust-ad\ndomain x\nnameserver 192.0.2.1\n", ["192.0.2.1"]),
        ("nameservers 192.0.2.1\nNAMESERVER 192.0.2.2\nnameserver\nnameserver \n", []),
        ("nameserver 192.0.2.300\nnameserver example.net\nnameserver 192.0.2.1\n", ["192.0.2.1"]),
        ("nameserver 192.0.2.1 192.0.2.2\n", ["192.0.2.1"]),
        (
            "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n",
            ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
        ),
        (
            "nameserver bad\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n",
            ["192.0.2.2", "192.0.2.3", "192.0.2.4"]
        ),
        ("nameserver 192.0.2.1\nnameserver 192.0.2.1\n", ["192.0.2.1", "192.0.2.1"]),
        ("\n\n\nnameserver 192.0.2.1\n\n", ["192.0.2.1"]),
        ("\u{FEFF}nameserver 192.0.2.1\n\u{0}\u{0}\nnameserver 192.0.2.2", ["192.0.2.2"]),
    ]

    @Test(arguments: Self.table)
    func serversOf(text: String, expected: [String]) {
        #expect(DNSServer.parse(resolvConf: text).map(\.description) == expected)
    }
}
