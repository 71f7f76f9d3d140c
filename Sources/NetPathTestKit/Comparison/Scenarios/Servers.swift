// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension ScenarioTable {
    static let servers = ScenarioSection(
        title: "Beyond the first hop",
        note: "The kernel's routes never change here: netlink and sysfs cannot tell, and must not guess.",
        rows: [
            Scenario("the server listens", steady: true, netlink: .routed) { _ in },
            Scenario("the server refuses: a refusal has crossed the network too", steady: true, netlink: .routed) {
                try $0.replaceServer(nil)
            },
            Scenario("the server resets every connection as soon as it is made", steady: true, netlink: .routed) {
                try $0.replaceServer(.resetting)
            },
            lost("the server's queue is full: its kernel drops every SYN") { try $0.replaceServer(.full) },
            Scenario(
                "the server is slow: only a repeated SYN is answered, a second later",
                netlink: .routed
            ) { stage in
                try stage.replaceServer(.full)
                try stage.awaitDroppedSYN()
                stage.makeRoom()
            },
            lost("packets to the target are blackholed on the way") { try $0.replaceTarget(by: "blackhole") },
            lost("a router answers: host unreachable (ICMP)") { try $0.replaceTarget(by: "unreachable") },
            lost("a router answers: administratively prohibited (ICMP)") { try $0.replaceTarget(by: "prohibit") },
            lost("the gateway is gone, the link is up") {
                try $0.lab.runOnFarSide("ip address flush dev \($0.peer)")
            },
            Scenario("one family is silently dead beyond the gateway", in: .dual, steady: true, netlink: .routed) {
                try $0.lab.runOnFarSide("ip -6 route replace blackhole \(ScenarioStage.target6) table local")
            },
            Scenario("large packets vanish (MTU black hole)", steady: true, netlink: .routed) {
                try $0.makeMTUBlackHole()
            },
            Scenario("a captive portal accepts every SYN in the target's place", steady: true, netlink: .routed) {
                try $0.makePortal()
            },
        ]
    )

    private static let nothingToConnectTo = "without an address there is nothing to connect to, whatever the routes say"

    static let names = ScenarioSection(
        title: "Names",
        note: "The target is known by its name only.",
        rows: [
            Scenario("the name server answers", in: .named, steady: true, netlink: .routed) { _ in },
            lost("the name server's machine refuses", in: .named, why: nothingToConnectTo) {
                try $0.setNameServer(false)
            },
            lost("the name server is silent", in: .named, why: nothingToConnectTo) { stage in
                try stage.lab.runOnFarSide(
                    "echo 1 >/proc/sys/net/ipv4/ip_forward && ip route add blackhole 198.51.100.99"
                )
                try stage.lab.run("sed -i 's/192.0.2.1/198.51.100.99/' /etc/resolv.conf")
            },
            lost(
                "this machine has no way to the name server",
                in: .named,
                why: "the status is about packets to the internet; of the name servers `supportsDNS` tells"
            ) { try $0.lab.ip("route add unreachable 192.0.2.1") },
        ]
    )
}
