// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// What a person reads who asks why, and what would help.
struct Advice: Hashable, Sendable {
    var reason: String
    var remedies: [String]

    init(_ reason: String, _ remedies: String...) {
        self.reason = reason
        self.remedies = remedies
    }
}

extension Advice: CustomStringConvertible {
    /// As it is written in the table.
    var description: String {
        "Advice(\(([self.reason] + self.remedies).map(\.debugDescription).joined(separator: ", ")))"
    }
}

extension ScenarioStage {
    /// Asks the program why there is a path or none, by the netlink backend.
    func explain() throws -> Advice {
        let path = "\(self.lab.directory)/explain.yaml"
        try "backends: [{type: netlink, resolvConf: \(self.resolverFile)}]\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        // Its exit code says what the status is.
        let output = try self.lab.run("\(self.program) explain --json --config \(path) || true")
        let document = try JSONValue(json: output)
        var advice = Advice(document["reason"]?["message"]?.string ?? "")
        advice.remedies = document["remedies"]?.elements.compactMap(\.string) ?? []
        return advice
    }
}

extension ScenarioTable {
    /// Compares what a person is told in a scenario with what the table of advice says.
    @Sendable static func checkAdvice(_ scenario: Scenario, _ stage: ScenarioStage) throws -> [String] {
        guard scenario.needsAdvice || self.advice[scenario.title] != nil else { return [] }
        let said = try stage.explain()
        return said == self.advice[scenario.title] ? [] : ["explain says \(said)"]
    }

    /// What `netpath explain` says by the netlink backend in the rows where it has something to explain, by their titles.
    ///
    /// To be read as the person who has to act on it: the reason is the cause, and the first remedy is what to try
    /// first.
    static let advice: [String: Advice] = [
        "set down and up again: the address is there, the default route is not": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "the uplink is set down: IPv4 routes go without a word": Advice(
            "every network interface is administratively down",
            "Bring wan0 up: `ip link set wan0 up`"
        ),
        "the uplink disappears": Advice(
            "there is no network interface besides loopback",
            "Add a network interface or load its driver; `ip link` lists what the kernel has"
        ),
        "an authentication is pending (dormant), and the switch lets packets through all the same": Advice(
            "wan0 is waiting for authentication",
            "Wait for the authentication of wan0; its supplicant knows more: `wpa_cli -i wan0 status`"
        ),
        "the uplink is moved into a container": Advice(
            "there is no network interface besides loopback",
            "Add a network interface or load its driver; `ip link` lists what the kernel has"
        ),
        "the cable is pulled: the route stays": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up"
        ),
        "the uplink disappears, and the default route leads to loopback": Advice(
            "there is no network interface besides loopback",
            "Add a network interface or load its driver; `ip link` lists what the kernel has"
        ),
        "the uplink comes back from a container, down and without addresses": Advice(
            "every network interface is administratively down",
            "Bring wan0 up: `ip link set wan0 up`"
        ),
        "another interface gets the index of the deleted uplink": Advice(
            "other0 has no address",
            "Give other0 an address: start a DHCP client, or `ip address add ADDRESS/PREFIX dev other0`"
        ),
        "the cable is pulled of an uplink without address and route": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up"
        ),
        "only the bridge of a container engine is left": Advice(
            "docker0 has an address but no route to the internet",
            "Add an uplink; or, if docker0 leads to one, a default route: `ip route add default via GATEWAY dev docker0`"
        ),
        "a bridge loses its only port (RTM_DELLINK of AF_BRIDGE: the port lives)": Advice(
            "br0 has no carrier",
            "Give br0 a member with a link: `ip link show master br0` lists those it has"
        ),
        "the default route leads to a bridge that has no port yet": Advice(
            "br0 has no port",
            "Give br0 a member with a link: `ip link show master br0` lists those it has"
        ),
        "a kill switch leads the default route into an interface that discards": Advice(
            "ks0 discards every packet",
            "If it is the kill switch of a VPN, connect the VPN that made ks0",
            """
            If something takes the packets off ks0, such as traffic control or a firewall, say so: put `uplink: true` into \
            a rule about ks0 in the configuration
            """
        ),
        "the address is removed, and the kernel takes the route with it": Advice(
            "wan0 has no address",
            "Give wan0 an address: start a DHCP client, or `ip address add ADDRESS/PREFIX dev wan0`"
        ),
        "a macvlan is the path, and the interface below it is set down: the macvlan stays up": Advice(
            "wan0 below macvlan0 is administratively down",
            "Bring wan0, below macvlan0, up: `ip link set wan0 up`"
        ),
        "the only IPv6 address is removed": Advice(
            "wan0 has a route but no usable source address",
            "Give wan0 a usable IPv6 address, to send from: `ip address add ADDRESS/PREFIX dev wan0`"
        ),
        "the only address is replaced by one that is checked for duplicates": Advice(
            "the address of wan0 is being checked for duplicates",
            "Wait until the check is over: `ip address show dev wan0 tentative` lists what is checked"
        ),
        "the new address turns out to belong to another host": Advice(
            "every address of wan0 is in use elsewhere",
            "Give wan0 an address that no other host uses: `ip address add ADDRESS/PREFIX dev wan0`"
        ),
        "only a link-local IPv6 address is left, with a default route": Advice(
            "wan0 has a route but no usable source address",
            "Give wan0 a usable IPv6 address, to send from: `ip address add ADDRESS/PREFIX dev wan0`"
        ),
        "the default route is removed": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "it is removed and added three hundred times, at last removed": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "the IPv6 default route is removed": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip -6 route add default via GATEWAY dev wan0`"
        ),
        "the next-hop object is deleted: its route goes without a word": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "a policy rule says that everything is unreachable": Advice(
            "an unreachable route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type unreachable` and `ip rule` list them"
        ),
        "IPv6 is off and has a blackhole, and the IPv4 default route is removed": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "the default route becomes unreachable": Advice(
            "an unreachable route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type unreachable` and `ip rule` list them"
        ),
        "the route of a router advertisement expires; its removal comes up to half a minute late": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip -6 route add default via GATEWAY dev wan0`"
        ),
        "the default route becomes prohibited": Advice(
            "a prohibit route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type prohibit` and `ip rule` list them"
        ),
        "the IPv6 default route becomes a blackhole": Advice(
            "a blackhole route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip -6 route show table all type blackhole` and `ip -6 rule` list them"
        ),
        "the default route becomes a blackhole": Advice(
            "a blackhole route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type blackhole` and `ip rule` list them"
        ),
        "a policy rule prohibits everything": Advice(
            "a prohibit route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type prohibit` and `ip rule` list them"
        ),
        "8.0.0.0/7 becomes a blackhole": Advice(
            "a blackhole route or rule refuses packets to 9.0.0.1",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type blackhole` and `ip rule` list them"
        ),
        "only the upper half is routed, where the probe's target is": Advice(
            "there is no route to 9.0.0.1",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "192.0.0.0/7 becomes a blackhole, behind five hundred other routes": Advice(
            "a blackhole route or rule refuses packets to 193.0.0.1",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type blackhole` and `ip rule` list them"
        ),
        "the default route says throw, and there is nowhere else to look": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "a tunnel becomes the only interface, and no interface has an address": Advice(
            "tunnel0 has a route but no usable source address",
            "Give tunnel0 a usable IPv4 address, to send from: `ip address add ADDRESS/PREFIX dev tunnel0`"
        ),
        "the preferred uplink's cable is pulled: the kernel goes on sending into it": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up",
            "Let the kernel skip routes without a link, so that wan1 takes over: `sysctl -w net.ipv4.conf.all.ignore_routes_with_linkdown=1`"
        ),
        "the only uplink is a tunnel, and its program ends": Advice(
            "tun0 has no carrier",
            "Start the program that tun0 leads to"
        ),
        "the kill switch of a VPN: its table, found by a rule, holds a blackhole": Advice(
            "a blackhole route or rule refuses packets",
            "If it is the kill switch of a VPN, connect the VPN",
            "Otherwise find the route or rule, and remove it if it is not needed: `ip route show table all type blackhole` and `ip rule` list them"
        ),
        "a route over both next hops (multipath), both cables pulled": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up",
            "Bring the other end of wan1 up"
        ),
        "monotonic and boot clocks are ten days ahead, and an address is being checked": Advice(
            "the address of wan0 is being checked for duplicates",
            "Wait until the check is over: `ip address show dev wan0 tentative` lists what is checked"
        ),
        "the default route is removed while it stands still": Advice(
            "wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "the uplink is replaced while it stands still": Advice(
            "wan5 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan5`"
        ),
        "the uplink becomes a member of a VRF, and its routes move to the table of that": Advice(
            "vrf0 has no address",
            "Run programs in the VRF: `ip vrf exec vrf0 COMMAND`; those outside of it do not see its routes"
        ),
        "the cable is pulled beside an unreachable IPv6 default route, as a protection against leaks has it": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up"
        ),
        "the cable is pulled below the kill switch of a VPN": Advice(
            "wan0 has no carrier",
            "Bring the other end of wan0 up"
        ),
        "the IPv4 default route is removed beside an unreachable one of IPv6": Advice(
            "IPv4: wan0 has an address but no route to the internet",
            "Add a default route: `ip route add default via GATEWAY dev wan0`"
        ),
        "a macvlan is the path, and the cable of the interface below it is pulled": Advice(
            "wan0 below macvlan0 has no carrier",
            "Bring the other end of wan0 up"
        ),
        "an IPv6 address is checked, and meanwhile an IPv4 address comes without a route": Advice(
            "the address of wan0 is being checked for duplicates",
            "Wait until the check is over: `ip address show dev wan0 tentative` lists what is checked"
        ),
    ]
}
