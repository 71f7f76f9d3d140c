// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension ScenarioTable {
    static let addresses = ScenarioSection(
        title: "Addresses",
        note: "A route needs an address to send from.",
        rows: [
            Scenario("the address is removed, and the kernel takes the route with it", netlink: .no(.noAddress)) {
                try $0.wan.removeAddress("192.0.2.2/24")
            },
            Scenario("the only IPv6 address is removed", in: .ipv6, netlink: .no(.noAddress)) {
                try $0.wan.removeAddress("2001:db8:1::2/64")
            },
            Scenario(
                "the only address is replaced by one that is checked for duplicates",
                in: .ipv6,
                netlink: .step(.configuringAddress)
            ) { try $0.replaceAddress(isChecked: true) },
            Scenario(
                "an IPv6 address is checked, and meanwhile an IPv4 address comes without a route",
                in: .ipv6,
                netlink: .step(.configuringAddress)
            ) { stage in
                try stage.replaceAddress(isChecked: true)
                try stage.wan.addAddress("192.0.2.2/24")
            },
            Scenario("the check of the new address succeeds", in: .ipv6, netlink: .routed) { stage in
                try stage.replaceAddress()
                try stage.awaitEndOfAddressCheck()
            },
            Scenario(
                "the new address turns out to belong to another host",
                in: .ipv6,
                netlink: .no(.noAddress)
            ) { stage in
                try stage.lab.runOnFarSide("ip address add 2001:db8:1::3/64 dev \(stage.peer) nodad")
                try stage.replaceAddress()
                try stage.awaitEndOfAddressCheck()
            },
            Scenario(
                "a router renews and deprecates the prefix every few moments",
                in: .ipv6,
                steady: true,
                netlink: .routed
            ) { stage in
                for _ in 0..<5 {
                    for lifetime in [0, 300] {
                        try stage.lab.ip(
                            "address change 2001:db8:1::2/64 dev wan0 preferred_lft \(lifetime) valid_lft 600"
                        )
                    }
                }
            },
            Scenario(
                "the only address becomes a link-local one of IPv4: some clouds route it",
                netlink: .routed
            ) { stage in
                try stage.lab.runOnFarSide("ip address add 169.254.7.1/16 dev \(stage.peer)")
                try stage.lab.ip("address flush dev wan0")
                try stage.wan.addAddress("169.254.7.2/16")
                try stage.lab.addDefaultRoute(via: "169.254.7.1", through: stage.wan)
            },
            Scenario(
                "only a link-local IPv6 address is left, with a default route",
                in: .ipv6,
                netlink: .no(.noAddress)
            ) { stage in
                try stage.lab.ip("-6 address flush dev wan0")
                try stage.wan.addAddress("fe80::2/64")
                try stage.lab.ip("-6 route replace default via fe80::1 dev wan0")
            },
            Scenario("one of two families loses its address", in: .dual, netlink: .routed) {
                try $0.wan.removeAddress("192.0.2.2/24")
            },
        ]
    )
}
