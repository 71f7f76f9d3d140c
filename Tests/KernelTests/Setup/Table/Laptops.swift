// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What people carry about.
extension SetupTable {
    static let laptops = [laptop, tethering, oneFamilyBroken, noRouterAdvertisement]

    private static var laptop: Setup {
        let (eth0, wlan0) = (Uplink.routed("eth0", 1, metric: 100), Uplink.routed("wlan0", 2, metric: 600))
        return Setup(
            "NetworkManager: cable and Wi-Fi, both families",
            uplinks: [eth0, wlan0],
            steps: eth0.failures(),
            wlan0.failures(),
            [
                Step("both lose their addresses", eth0.removal(of: "address") + wlan0.removal(of: "address")),
                Step("Wi-Fi is configured", wlan0.configure),
                Step("and the cable", eth0.configure),
            ]
        )
    }

    private static var tethering: Setup {
        let usb0 = Uplink.routed("usb0", 1, .ipv4, metric: 100)
        return Setup(
            "a phone's tethering is plugged in and out",
            uplinks: [],
            steps: [
                Step("it is plugged in", [.connect("usb0")] + usb0.configure),
                Step("it is plugged out", "link del usb0"),
                Step("it is plugged in, without an address yet", .connect("usb0")),
                Step("it has an address", .host(usb0.configuration[0])),
                Step("it has a route", .host(usb0.configuration[1])),
            ],
            usb0.failures([.carrier])
        )
    }

    private static var oneFamilyBroken: Setup {
        let wlan0 = Uplink.routed("wlan0")
        return Setup(
            "Wi-Fi where one family goes and then the other",
            uplinks: [wlan0],
            steps: [
                Step("the IPv6 default is removed", "-6 route del default"),
                Step("and the IPv4 default", "route del default"),
                Step("the IPv6 default is back", .host(wlan0.configuration[3])),
                Step("the IPv6 address is removed", "address del 2001:db8:1::2/64 dev wlan0"),
                Step("both are back", wlan0.configure),
                Step("the IPv4 address is removed", "address del 192.168.1.2/24 dev wlan0"),
            ]
        )
    }

    private static var noRouterAdvertisement: Setup {
        let wlan0 = Uplink(
            "wlan0",
            "address replace fe80::2/64 dev wlan0 nodad",
            "route replace default via fe80::1 dev wlan0 proto ra metric 600 expires 1800"
        )
        return Setup(
            "Wi-Fi with a router's advertisement but no address",
            uplinks: [wlan0],
            steps: [
                Step("an address is there", "address add 2001:db8:1::2/64 dev wlan0 nodad"),
                Step("the address is removed", "address del 2001:db8:1::2/64 dev wlan0"),
                Step("an IPv4 address is there", "address add 192.168.1.2/24 dev wlan0"),
                Step("and an IPv4 default", "route add default via 192.168.1.1 dev wlan0"),
            ],
            wlan0.failures([.carrier])
        )
    }
}
