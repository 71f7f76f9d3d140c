// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Instances in public clouds.
extension SetupTable {
    static let clouds = [
        googleCloud, googleCloudOnLink, hetzner, ovh, linkLocalSource, anchorAddress, advertisedOnly, secondInterface,
        secondInterfaceIPv6, ruleOnly, ruleBeforeUnreachable, prohibitedSource,
    ]

    private static var googleCloud: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 10.128.0.2/32 dev eth0",
            "route replace 10.128.0.1 dev eth0 scope link",
            "route replace default via 10.128.0.1 dev eth0"
        )
        return Setup("Google Cloud: a /32 and a route to its gateway", uplinks: [eth0], steps: eth0.failures())
    }

    private static var googleCloudOnLink: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 10.128.0.2/32 dev eth0",
            "route replace default via 10.128.0.1 dev eth0 onlink"
        )
        return Setup("Google Cloud: a /32 and an on-link gateway", uplinks: [eth0], steps: eth0.failures())
    }

    private static var hetzner: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 203.0.113.5/32 dev eth0",
            "route replace default via 172.31.1.1 dev eth0 onlink",
            "address replace 2001:db8:5::1/64 dev eth0 nodad",
            "address replace fe80::2/64 dev eth0 nodad",
            "route replace default via fe80::1 dev eth0"
        )
        return Setup("Hetzner Cloud: on-link 172.31.1.1 and fe80::1", uplinks: [eth0], steps: eth0.failures())
    }

    private static var ovh: Setup {
        let ens3 = Uplink(
            "ens3",
            "address replace 198.51.100.7/32 dev ens3",
            "route replace default via 198.51.100.254 dev ens3 onlink",
            "address replace 2001:db8:7::1/128 dev ens3 nodad",
            "route replace 2001:db8:7:ff::1 dev ens3",
            "route replace default via 2001:db8:7:ff::1 dev ens3"
        )
        return Setup("OVH: both gateways outside the prefixes", uplinks: [ens3], steps: ens3.failures())
    }

    private static var linkLocalSource: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 169.254.8.1/32 dev eth0",
            "route replace default via 169.254.8.129 dev eth0 onlink"
        )
        return Setup("Cloud Run: 169.254 is the way out", uplinks: [eth0], steps: eth0.failures())
    }

    private static var anchorAddress: Setup {
        let eth0 = Uplink(
            "eth0",
            "address replace 203.0.113.5/20 dev eth0",
            "address replace 10.10.0.5/16 dev eth0",
            "route replace default via 203.0.112.1 dev eth0"
        )
        return Setup(
            "DigitalOcean: a public and an anchor address",
            uplinks: [eth0],
            steps: eth0.failures(),
            [
                Step("the default goes through the anchor", "route replace default via 10.10.0.1 dev eth0"),
                Step("the public address is removed", "address del 203.0.113.5/20 dev eth0"),
                Step("the anchor is removed", "address del 10.10.0.5/16 dev eth0"),
            ]
        )
    }

    private static var advertisedOnly: Setup {
        let ens5 = Uplink(
            "ens5",
            "address replace fe80::2/64 dev ens5 nodad",
            "address replace 2001:db8:9::5/128 dev ens5 nodad",
            "route replace default via fe80::1 dev ens5 proto ra metric 512 expires 1800"
        )
        return Setup("AWS: IPv6 only, from a router advertisement", uplinks: [ens5], steps: ens5.failures())
    }

    /// Two interfaces as amazon-ec2-net-utils configures them.
    private static func twoInterfaces(_ families: Uplink.Families) -> [Uplink] {
        let ens6 = Uplink.routed("ens6", 2, families, metric: 612)
        let tables = ens6.configuration.filter { $0.contains("route") }.map { "\($0) table 10001" }
        return [Uplink.routed("ens5", 1, families, metric: 512), Uplink("ens6", ens6.configuration + tables)]
    }

    private static var secondInterface: Setup {
        let uplinks = twoInterfaces(.ipv4)
        return Setup(
            "AWS: two interfaces, each answers from its own",
            uplinks: uplinks,
            prepare: ["rule add from 192.168.2.2 lookup 10001 priority 10001"],
            steps: uplinks[0].failures(),
            uplinks[1].failures([.carrier, .address, .removal]),
            [Step("the main table has no default any more", "route flush exact default table main")]
        )
    }

    private static var secondInterfaceIPv6: Setup {
        let uplinks = twoInterfaces(.ipv6)
        return Setup(
            "AWS: two interfaces, each answers from its own, IPv6",
            uplinks: uplinks,
            prepare: ["-6 rule add from 2001:db8:2::2 lookup 10001 priority 10001"],
            steps: uplinks[0].failures(),
            uplinks[1].failures([.carrier, .address, .removal]),
            [Step("the main table has no default any more", "-6 route flush exact default table main")]
        )
    }

    private static var ruleOnly: Setup {
        let ens5 = Uplink(
            "ens5",
            "address replace 2001:db8:1::2/64 dev ens5 nodad",
            "route replace default via 2001:db8:1::1 dev ens5 table 10000"
        )
        return Setup(
            "AWS: IPv6 with a default for its own address only",
            uplinks: [ens5],
            prepare: ["-6 rule add from 2001:db8:1::2 lookup 10000 priority 10000"],
            steps: ens5.failures(),
            [
                Step("the rule is removed", "-6 rule del priority 10000"),
                Step("the rule is back", "-6 rule add from 2001:db8:1::2 lookup 10000 priority 10000"),
            ]
        )
    }

    private static var ruleBeforeUnreachable: Setup {
        let ens3 = Uplink(
            "ens3",
            "address replace 2001:db8:1::2/64 dev ens3 nodad",
            "route replace default via 2001:db8:1::1 dev ens3 table 200"
        )
        return Setup(
            "Oracle Cloud: a table for the address, unreachable for the rest, IPv6",
            uplinks: [ens3],
            prepare: [
                "-6 rule add from 2001:db8:1::2 lookup 200 priority 200",
                "-6 route add unreachable default metric 4278198272",
            ],
            steps: ens3.failures()
        )
    }

    private static var prohibitedSource: Setup {
        let eth0 = Uplink.routed("eth0", 1, .ipv4)
        return Setup(
            "a host where a rule refuses the address its default would use",
            uplinks: [eth0],
            steps: [
                Step("the rule is added", "rule add from 192.168.1.2 prohibit priority 100"),
                Step("the rule is removed", "rule del priority 100"),
            ],
            eth0.failures([.carrier])
        )
    }
}
