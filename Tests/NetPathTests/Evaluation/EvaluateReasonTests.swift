// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

/// Rules 2 to 4: every reason why there is no path.
@Suite struct EvaluateReasonTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let evidence: Evidence
        let status: PathStatus
        let code: PathReason.Code
        let message: String?

        init(
            _ name: String,
            _ evidence: Evidence,
            _ status: PathStatus,
            _ code: PathReason.Code,
            _ message: String? = nil
        ) {
            self.testDescription = name
            self.evidence = evidence
            self.status = status
            self.code = code
            self.message = message
        }
    }

    private static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let eth0 = NetworkInterface.wired("eth0", 2).with("192.0.2.7/24").with("2001:db8::7/64")
    private static let wlan0 = NetworkInterface.wifi("wlan0", 3).with("198.51.100.7/24")
    private static let bare = NetworkInterface.wired("eth0", 2).with("fe80::7/64")
    private static let wireless = NetworkInterface.wifi("wlan0", 3)
    private static let bond = NetworkInterface.virtual("bond0", 9, kind: "bond").withoutCarrier()

    private static func check(_ row: Row) throws {
        let verdict = try #require(row.evidence.verdict(policy: EvaluationPolicy(), now: self.now))
        #expect(verdict.status == row.status)
        #expect(verdict.reason.code == row.code)
        if let message = row.message { #expect(verdict.reason.message == message) }
        #expect(verdict.families.isEmpty)
        #expect(verdict.gateways.isEmpty)
    }

    // MARK: One interface, no route

    static let links: [Row] = [
        Row("nothing but loopback", .seeing(.loopback()), .unsatisfied, .noInterface),
        Row("nothing at all", .seeing(), .unsatisfied, .noInterface),
        Row("admin-down", .seeing(eth0.down()), .unsatisfied, .allDown),
        Row("admin-down although addressed", .seeing(eth0.down(), wlan0.down()), .unsatisfied, .allDown),
        Row("no carrier", .noLink, .unsatisfied, .noCarrier, "eth0 has no carrier"),
        Row("carrier 0 although up", .seeing(eth0.withoutCarrier(.up)), .unsatisfied, .noCarrier),
        Row("carrier 0, state unknown", .seeing(eth0.withoutCarrier(.unknown)), .unsatisfied, .noCarrier),
        Row("lowerLayerDown", .seeing(eth0.inState(.lowerLayerDown)), .unsatisfied, .noCarrier),
        Row("notPresent", .seeing(eth0.inState(.notPresent)), .unsatisfied, .noCarrier),
        Row("testing", .seeing(eth0.inState(.testing)), .unsatisfied, .noCarrier),
        Row("dormant", .seeing(eth0.inState(.dormant)), .requiresConnection, .authenticating),
        Row(
            "parent admin-down",
            .seeing(eth0.down(), NetworkInterface.virtual("mv0", 4, kind: "macvlan").on(eth0)),
            .unsatisfied,
            .noCarrier,
            "eth0 below mv0 is administratively down"
        ),
        Row(
            "the lowest parent down",
            .seeing(
                eth0.down(),
                NetworkInterface.virtual("lan7", 4, kind: "vlan").on(eth0),
                NetworkInterface.virtual("mv0", 5, kind: "macvlan").on(.virtual("lan7", 4, kind: "vlan"))
            ),
            .unsatisfied,
            .noCarrier,
            "eth0 below lan7 is administratively down"
        ),
        Row(
            "parent without a cable",
            .seeing(
                NetworkInterface.wired("eth0", 4).withoutCarrier(),
                NetworkInterface.virtual("mv0", 3, kind: "macvlan").on(.wired("eth0", 4)).withoutCarrier(
                    .lowerLayerDown
                )
            ),
            .unsatisfied,
            .noCarrier,
            "eth0 below mv0 has no carrier"
        ),
        Row(
            "parent not associated",
            .seeing(
                wireless.withoutCarrier().member(of: .virtual("br0", 9, kind: "bridge")),
                NetworkInterface.virtual("mv0", 4, kind: "macvlan").on(wireless).withoutCarrier(.lowerLayerDown)
            ),
            .requiresConnection,
            .wifiNotAssociated,
            "wlan0 below mv0 is not associated with a Wi-Fi network"
        ),
        Row(
            "the other end of a veth pair down",
            .seeing(
                NetworkInterface.virtual("veth0", 4, kind: "veth").on(.virtual("veth1", 5, kind: "veth"))
                    .withoutCarrier(.lowerLayerDown),
                NetworkInterface.virtual("veth1", 5, kind: "veth").on(.virtual("veth0", 4, kind: "veth")).down()
            ),
            .unsatisfied,
            .noCarrier,
            "veth1, the other end of veth0, is administratively down"
        ),
        Row("parent elsewhere", .seeing(eth0.changed { $0.underlyingIndex = 99 }), .unsatisfied, .noRoute),
        Row("address, no route", .seeing(eth0), .unsatisfied, .noRoute),
        Row("no address", .seeing(bare), .unsatisfied, .noAddress, "eth0 has no address"),
        Row("link-local IPv4 only", .seeing(bare.with("169.254.3.4/16")), .unsatisfied, .noAddress),
        Row(
            "address taken",
            .seeing(bare.with("2001:db8::7/64", state: .duplicate)),
            .unsatisfied,
            .noAddress,
            "every address of eth0 is in use elsewhere"
        ),
        Row(
            "tentative",
            .seeing(bare.with("2001:db8::7/64", state: .tentative)),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "tentative on a container's link",
            .seeing(NetworkInterface.virtual("veth0", 3, kind: "veth").with("2001:db8::7/64", state: .tentative)),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "tentative on a container's bridge beside a cable that is out",
            .seeing(
                bare.withoutCarrier(),
                NetworkInterface.virtual("docker0", 3, kind: "bridge").with("2001:db8::7/64", state: .tentative)
            ),
            .unsatisfied,
            .noCarrier
        ),
        Row(
            "tentative on a bridge of hardware",
            .seeing(
                NetworkInterface.virtual("br0", 3, kind: "bridge").with("2001:db8::7/64", state: .tentative)
                    .changed { $0.foundation = .hardware }
            ),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "tentative in a container, with a route",
            .seeing(
                NetworkInterface.virtual("eth0", 3, kind: "veth").with("2001:db8::7/64", state: .tentative)
                    .withDefaultRoute("fe80::1", .ipv6)
            ),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "optimistic",
            .seeing(bare.with("2001:db8::7/64", state: [.tentative, .optimistic])),
            .unsatisfied,
            .noRoute
        ),
        Row("deprecated", .seeing(bare.with("2001:db8::7/64", state: .deprecated)), .unsatisfied, .noRoute),
        Row("Wi-Fi not associated", .seeing(wireless.withoutCarrier()), .requiresConnection, .wifiNotAssociated),
        Row(
            "dormant without a carrier",
            .seeing(eth0.withoutCarrier(.dormant)),
            .unsatisfied,
            .noCarrier,
            "eth0 has no carrier"
        ),
        Row(
            "Wi-Fi dormant without a carrier, as for a moment when it is lost",
            .seeing(wireless.withoutCarrier(.dormant)),
            .requiresConnection,
            .wifiNotAssociated
        ),
        Row("Wi-Fi dormant", .seeing(wireless.inState(.dormant)), .requiresConnection, .authenticating),
        Row(
            "Wi-Fi blocked and down",
            .seeing(wireless.down().changed { $0.isRadioBlocked = true }),
            .unsatisfied,
            .radioBlocked
        ),
        Row(
            "Wi-Fi blocked and up",
            .seeing(wireless.withoutCarrier().changed { $0.isRadioBlocked = true }),
            .unsatisfied,
            .radioBlocked
        ),
        Row(
            "modem off",
            .seeing(NetworkInterface.cellular("wwan0", 5).withoutCarrier()),
            .requiresConnection,
            .modemNotConnected
        ),
        Row("modem without address", .seeing(.cellular("wwan0", 5)), .requiresConnection, .modemNotConnected),
        Row("modem with address", .seeing(.cellular("wwan0", 5).with("100.64.0.7/32")), .unsatisfied, .noRoute),
        Row("modem down", .seeing(NetworkInterface.cellular("wwan0", 5).down()), .unsatisfied, .allDown),
        Row(
            "members of a bridge do not count",
            .seeing(
                .virtual("br0", 9, kind: "bridge").inState(.down).changed { $0.hasCarrier = false },
                wlan0.changed { $0.controllerIndex = 9 },
                wireless.inState(.dormant).changed { $0.controllerIndex = 9 }
            ),
            .unsatisfied,
            .noCarrier
        ),
        Row("expected, just up", .seeing(bare.expectingAddress(since: now)), .requiresConnection, .configuringAddress),
        Row("expected, age unknown", .seeing(bare.expectingAddress(since: nil)), .unsatisfied, .noAddress),
        Row(
            "expected, grace over",
            .seeing(bare.expectingAddress(since: MonotonicTime(nanoseconds: now.nanoseconds - 45_000_000_000))),
            .unsatisfied,
            .noAddress
        ),
        Row("hardware, just up", .seeing(bare.withCarrier(since: now)), .requiresConnection, .configuringAddress),
        Row("hardware, age unknown", .seeing(bare), .unsatisfied, .noAddress),
        Row(
            "hardware, grace over",
            .seeing(bare.withCarrier(since: MonotonicTime(nanoseconds: now.nanoseconds - 45_000_000_000))),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "hardware by a stamp of another time namespace",
            .seeing(bare.withCarrier(since: MonotonicTime(nanoseconds: now.nanoseconds + 60_000_000_000))),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "Wi-Fi, just associated",
            .seeing(wireless.withCarrier(since: now)),
            .requiresConnection,
            .configuringAddress,
            "wlan0 has no address yet"
        ),
        Row(
            "Wi-Fi, and a DHCP client is at work",
            .seeing(wireless.withCarrier(since: now).configured(by: .network)),
            .requiresConnection,
            .configuringAddress,
            "wlan0 is waiting for an address"
        ),
        Row(
            "nothing gives an address",
            .seeing(bare.withCarrier(since: now).configured(by: .nothing)),
            .unsatisfied,
            .noAddress,
            "eth0 has no address"
        ),
        Row(
            "PPPoE is dialling",
            .seeing(bare.withCarrier(since: now).configured(by: .session)),
            .requiresConnection,
            .configuringAddress,
            "a PPPoE session is being set up over eth0"
        ),
        Row(
            "modem, just connected",
            .seeing(NetworkInterface.cellular("wwan0", 5).withCarrier(since: now)),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "modem whose driver does not say, and a DHCP client is at work",
            .seeing(
                NetworkInterface.cellular("wwan0", 5).inState(.unknown).withCarrier(since: now)
                    .configured(by: .network)
            ),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "modem without a bearer: its driver claims a carrier all the same",
            .seeing(NetworkInterface.cellular("wwan0", 5).inState(.unknown).withCarrier(since: now)),
            .requiresConnection,
            .modemNotConnected
        ),
        Row(
            "virtual, just up",
            .seeing(NetworkInterface.virtual("veth0", 4, kind: "veth").withCarrier(since: now)),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "a leased address without its route yet",
            .seeing(wireless.with("192.0.2.9/24", since: now)),
            .requiresConnection,
            .configuringAddress,
            "wlan0 has an address and is waiting for a route"
        ),
        Row(
            "a leased address whose route never came",
            .seeing(wireless.with("192.0.2.9/24", since: MonotonicTime(nanoseconds: now.nanoseconds - 45_000_000_000))),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "a leased address with the route of the other family only",
            .seeing(wireless.with("192.0.2.9/24", since: now).withDefaultRoute("fe80::1", .ipv6)),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "a leased address whose route nothing brings",
            .seeing(wireless.with("192.0.2.9/24", since: now).configured(by: .nothing)),
            .unsatisfied,
            .noRoute
        ),
        Row("a static address", .seeing(wlan0.withCarrier(since: now)), .unsatisfied, .noRoute),
        Row(
            "a static address without its route yet",
            .seeing(wlan0.added(at: now)),
            .requiresConnection,
            .configuringAddress,
            "wlan0 has an address and is waiting for a route"
        ),
        Row(
            "a static address whose route never came",
            .seeing(wlan0.added(at: MonotonicTime(nanoseconds: now.nanoseconds - 1_000_000_000))),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "a static address beside an older one",
            .seeing(wlan0.added(at: MonotonicTime(nanoseconds: 1)).with("198.51.100.8/24").added(at: now)),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "a static address beside an older one of the other family",
            .seeing(wlan0.added(at: MonotonicTime(nanoseconds: 1)).with("2001:db8::8/64").added(at: now)),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "a static address by a stamp of another time namespace",
            .seeing(wlan0.added(at: MonotonicTime(nanoseconds: now.nanoseconds + 60_000_000_000))),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "an address for want of DHCP",
            .seeing(bare.with("169.254.3.4/16", scope: .global).added(at: now)),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "a static address of a virtual interface",
            .seeing(NetworkInterface.virtual("veth0", 4, kind: "veth").with("192.0.2.9/24").added(at: now)),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "Wi-Fi that failed to authenticate once",
            .seeing(wireless.withoutCarrier().changed { $0.failedAuthentications = 1 }),
            .requiresConnection,
            .wifiNotAssociated,
            "wlan0 is not associated with a Wi-Fi network"
        ),
        Row(
            "Wi-Fi with a wrong key",
            .seeing(wireless.withoutCarrier().changed { $0.failedAuthentications = 2 }),
            .requiresConnection,
            .wifiNotAssociated,
            "wlan0 fails to authenticate; the key may be wrong"
        ),
        Row(
            "a bond that stays with a member without a cable",
            .seeing(bond.changed { $0.bondFault = .activeMember("eth0") }),
            .unsatisfied,
            .noCarrier,
            "bond0 sends through eth0, which has no carrier, and does not watch links"
        ),
        Row(
            "a bond with too few links",
            .seeing(bond.changed { $0.bondFault = .fewerLinks(than: 2) }),
            .unsatisfied,
            .noCarrier,
            "bond0 has fewer links than the 2 it needs"
        ),
        Row(
            "a leased address of a virtual interface",
            .seeing(NetworkInterface.virtual("veth0", 4, kind: "veth").with("192.0.2.9/24", since: now)),
            .unsatisfied,
            .noRoute
        ),
        Row(
            "expected, no carrier",
            .seeing(bare.expectingAddress(since: now).withoutCarrier()),
            .unsatisfied,
            .noCarrier
        ),
        Row("expected, has an address", .seeing(eth0.expectingAddress(since: now)), .unsatisfied, .noRoute),
    ]

    @Test(arguments: Self.links) func link(_ row: Row) throws { try Self.check(row) }

    // MARK: Several interfaces

    private static let blocked = NetworkInterface.wifi("wlan9", 9).down().changed { $0.isRadioBlocked = true }

    static let orders: [Row] = [
        Row(
            "authenticating before configuring",
            .seeing(bare.expectingAddress(since: now), wireless.inState(.dormant)),
            .requiresConnection,
            .authenticating
        ),
        Row(
            "configuring before association",
            .seeing(bare.expectingAddress(since: now), wireless.withoutCarrier()),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "association before modem",
            .seeing(NetworkInterface.cellular("wwan0", 1).withoutCarrier(), wireless.withoutCarrier()),
            .requiresConnection,
            .wifiNotAssociated
        ),
        Row(
            "a step before any no",
            .seeing(eth0, wireless.withoutCarrier()),
            .requiresConnection,
            .wifiNotAssociated
        ),
        Row("noRoute before noAddress", .seeing(bare, wlan0), .unsatisfied, .noRoute),
        Row("noAddress before noCarrier", .seeing(eth0.withoutCarrier(), wireless), .unsatisfied, .noAddress),
        Row("noCarrier before radioBlocked", .seeing(eth0.withoutCarrier(), blocked), .unsatisfied, .noCarrier),
        Row("radioBlocked before allDown", .seeing(eth0.down(), blocked), .unsatisfied, .radioBlocked),
    ]

    // MARK: What carried the path

    private static let lan0 = NetworkInterface.wired("lan0", 2)
    /// The network of a device, such as a controller, which leads nowhere else.
    private static let plc0 = NetworkInterface.wired("plc0", 3).with("10.1.2.3/24")

    static let memories: [Row] = [
        Row(
            "the uplink lost its cable and address",
            .seeing(lan0.withoutCarrier().afterRoute(), plc0),
            .unsatisfied,
            .noCarrier,
            "lan0 has no carrier"
        ),
        Row(
            "the uplink was set down",
            .seeing(lan0.down().afterRoute(), plc0),
            .unsatisfied,
            .interfaceDown,
            "lan0 is administratively down"
        ),
        Row("all were set down", .seeing(lan0.down().afterRoute(), plc0.down()), .unsatisfied, .allDown),
        Row(
            "another one is closer, and had a path too",
            .seeing(lan0.withoutCarrier().afterRoute(), plc0.afterRoute()),
            .unsatisfied,
            .noRoute,
            "plc0 has an address but no route to the internet"
        ),
        Row(
            "nobody knows which was the uplink",
            .seeing(lan0.withoutCarrier(), plc0),
            .unsatisfied,
            .noRoute,
            "plc0 has an address but no route to the internet; lan0 has no carrier"
        ),
        Row(
            "the network of containers, and all hardware is down",
            .seeing(lan0.down(), NetworkInterface.virtual("docker0", 4, kind: "bridge").with("172.17.0.1/16")),
            .unsatisfied,
            .noRoute,
            "docker0 has an address but no route to the internet; lan0 is administratively down"
        ),
        Row(
            "several carried the path, and their cables are out",
            .seeing(
                lan0.withoutCarrier().afterRoute(),
                NetworkInterface.wired("lan1", 5).withoutCarrier().afterRoute()
            ),
            .unsatisfied,
            .noCarrier,
            "lan0 has no carrier; lan1 has no carrier"
        ),
        Row(
            "a virtual uplink beside a spare cable",
            .seeing(
                lan0.withoutCarrier(),
                NetworkInterface.virtual("veth0", 4, kind: "veth").afterRoute()
            ),
            .unsatisfied,
            .noAddress,
            "veth0 has no address"
        ),
        Row(
            "PPPoE hung up when the cable was pulled",
            .seeing(lan0.withoutCarrier(), NetworkInterface.tunnel("ppp0", 7, kind: "ppp").down().afterRoute()),
            .unsatisfied,
            .noCarrier,
            "lan0 has no carrier"
        ),
        Row(
            "PPPoE got an address, and not its route yet",
            .seeing(lan0, NetworkInterface.tunnel("ppp0", 7, kind: "ppp").with("198.51.100.7/32").added(at: now)),
            .requiresConnection,
            .configuringAddress,
            "ppp0 has an address and is waiting for a route"
        ),
        Row(
            "a tunnel that is left over says nothing",
            .seeing(lan0.withoutCarrier(), NetworkInterface.tunnel("wg0", 4).with("10.8.0.2/24").afterRoute()),
            .unsatisfied,
            .noCarrier,
            "lan0 has no carrier"
        ),
    ]

    @Test(arguments: Self.memories) func memory(_ row: Row) throws { try Self.check(row) }

    @Test(arguments: Self.orders) func order(_ row: Row) throws { try Self.check(row) }

    // MARK: What the kernel would do

    private static let routed = Evidence.seeing(.loopback(), eth0, wlan0)
    private static let only4 = Evidence.seeing(.loopback(), .wired("eth0", 2).with("192.0.2.7/24"), wlan0)
    private static let dead = NextHop(interfaceIndex: 2, isDown: true)

    static let routes: [Row] = [
        Row("blackhole", only4.answering(.ipv4, .rejected(.blackhole)), .unsatisfied, .routeRejects),
        Row(
            "unreachable, named",
            Evidence.seeing(NetworkInterface.wired("eth0", 2).with("2001:db8::7/64"))
                .answering(.ipv6, .rejected(.unreachable)),
            .unsatisfied,
            .routeRejects,
            "an unreachable route or rule refuses packets"
        ),
        Row("prohibit", only4.answering(.ipv4, .rejected(.prohibit)), .unsatisfied, .routeRejects),
        Row(
            "IPsec",
            only4.answering(.ipv4, .rejected(.ipsecBlock)),
            .unsatisfied,
            .routeRejects,
            "a blocking IPsec policy refuses packets"
        ),
        Row(
            "IPsec on demand",
            only4.answering(.ipv4, .rejected(.ipsecOnDemand)),
            .requiresConnection,
            .dialOnDemand,
            "IPsec is negotiated when there is traffic"
        ),
        Row(
            "a rejecting half",
            only4.answering(.ipv4, .through(eth0), .rejected(.blackhole)),
            .unsatisfied,
            .routeRejects,
            "a blackhole route or rule refuses packets to 160.0.0.1"
        ),
        Row(
            "rejected in one half, no route in the other",
            only4.answering(.ipv4, .noRoute, .rejected(.blackhole)),
            .unsatisfied,
            .routeRejects
        ),
        Row(
            "rejected while the cable is out",
            Evidence.seeing(eth0.withoutCarrier()).answering(.ipv4, .rejected(.prohibit))
                .answering(.ipv6, .rejected(.prohibit)),
            .unsatisfied,
            .noCarrier,
            "eth0 has no carrier"
        ),
        Row(
            "rejected before there is an address",
            Evidence.seeing(bare.withCarrier(since: now)).answering(.ipv6, .rejected(.unreachable)),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "rejected, and only a container bridge could send",
            Evidence.seeing(
                NetworkInterface.wired("eth0", 2).withoutCarrier(),
                NetworkInterface.virtual("docker0", 9, kind: "bridge").with("172.17.0.1/16")
            ).answering(.ipv4, .rejected(.blackhole)),
            .unsatisfied,
            .noCarrier,
            "eth0 has no carrier"
        ),
        Row(
            "rejected on a VLAN, whose parent has no address",
            Evidence.seeing(
                NetworkInterface.wired("eth0", 2),
                NetworkInterface.virtual("lan7", 4, kind: "vlan").on(.wired("eth0", 2)).with("192.0.2.7/24")
            ).answering(.ipv4, .rejected(.blackhole)),
            .unsatisfied,
            .routeRejects
        ),
        Row(
            "the route into a split tunnel explains nothing",
            .seeing(
                NetworkInterface.tunnel("tun0", 2).with("10.8.0.2/24"),
                NetworkInterface.virtual("veth0", 4, kind: "veth")
            ),
            .unsatisfied,
            .noAddress,
            "veth0 has no address"
        ),
        Row("half routed, lower", routed.answering(.ipv4, .through(eth0), .noRoute), .unsatisfied, .noRoute),
        Row("half routed, upper", routed.answering(.ipv4, .noRoute, .through(eth0)), .unsatisfied, .noRoute),
        Row(
            "no source",
            routed.routed(.ipv4, through: eth0, source: .none),
            .unsatisfied,
            .noAddress,
            "IPv4: eth0 has a route but no usable source address"
        ),
        Row(
            "unspecified source",
            routed.routed(.ipv4, through: eth0, source: .from("0.0.0.0")),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "link-local source",
            routed.routed(.ipv6, through: eth0, source: .from("fe80::7")),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "loopback source",
            routed.routed(.ipv6, through: eth0, source: .from("::1")),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "taken source",
            Evidence.seeing(bare.with("2001:db8::8/64", state: .duplicate))
                .routed(.ipv6, through: bare, source: .from("2001:db8::8")),
            .unsatisfied,
            .noAddress
        ),
        Row(
            "tentative source",
            Evidence.seeing(bare.with("2001:db8::8/64", state: .tentative))
                .routed(.ipv6, through: bare, source: .from("2001:db8::8")),
            .requiresConnection,
            .configuringAddress
        ),
        Row(
            "egress without carrier, another default",
            Evidence.seeing(eth0.withoutCarrier(), wlan0.withDefaultRoute("198.51.100.1"))
                .routed(.ipv4, through: eth0, source: .from("192.0.2.7")),
            .unsatisfied,
            .noCarrier,
            "eth0 has no carrier"
        ),
        Row(
            "egress link-down, association possible elsewhere",
            Evidence.seeing(eth0, wireless.withoutCarrier()).answering(.ipv4, .route(Route(nextHops: [dead]))),
            .unsatisfied,
            .noCarrier,
            "the route through eth0 has lost its link"
        ),
        Row(
            "of next hops that all fail one through an interface that is down is not taken",
            Evidence.seeing(eth0.down(), NetworkInterface.wired("eth1", 4).withoutCarrier())
                .answering(.ipv4, .route(Route(nextHops: [dead, NextHop(interfaceIndex: 4, isDown: true)]))),
            .unsatisfied,
            .noCarrier,
            "eth1 has no carrier"
        ),
        Row(
            "egress link-down, interface not seen",
            Evidence.seeing(wlan0).answering(.ipv4, .route(Route(nextHops: [dead]))),
            .unsatisfied,
            .noCarrier,
            "the route through interface 2 has lost its link"
        ),
        Row(
            "every next hop dead",
            Evidence.seeing(eth0, wlan0.withoutCarrier()).answering(
                .ipv4,
                .route(Route(nextHops: [dead, NextHop(interfaceIndex: 3)]))
            ),
            .unsatisfied,
            .noCarrier
        ),
        Row(
            "egress dormant",
            Evidence.seeing(eth0.inState(.dormant)).routed(.ipv4, through: eth0),
            .requiresConnection,
            .authenticating
        ),
        Row(
            "egress Wi-Fi not associated",
            Evidence.seeing(wlan0.withoutCarrier()).routed(.ipv4, through: wlan0),
            .requiresConnection,
            .wifiNotAssociated
        ),
        Row(
            "egress down",
            Evidence.seeing(eth0.down(), wlan0).routed(.ipv4, through: eth0),
            .unsatisfied,
            .interfaceDown
        ),
        Row(
            "loopback default",
            Evidence.seeing(.loopback(), eth0).routed(.ipv4, through: .loopback()),
            .unsatisfied,
            .routeRejects
        ),
        Row(
            "loopback default alone",
            Evidence.seeing(.loopback()).routed(.ipv4, through: .loopback()),
            .unsatisfied,
            .noInterface
        ),
    ]

    @Test(arguments: Self.routes) func route(_ row: Row) throws { try Self.check(row) }

    // MARK: What else is said

    @Test func everyInterfaceHasItsOwnReason() throws {
        let evidence = Evidence.seeing(
            .loopback(),
            Self.eth0.withoutCarrier(),
            Self.wireless.down(),
            .virtual("veth1", 8, kind: "veth").down(),
            .virtual("veth2", 9, kind: "veth").with("172.17.0.1/16")
        )
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(verdict.interfaces.map(\.name) == ["eth0", "wlan0", "veth2"], "a veth that is down is nobody's uplink")
        #expect(verdict.interfaces.map(\.reason.code) == [.noCarrier, .interfaceDown, .noRoute])
    }

    @Test func virtualInterfacesAreShownWhenThereIsNothingElse() throws {
        let evidence = Evidence.seeing(.loopback(), .virtual("veth1", 8, kind: "veth").down())
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(verdict.interfaces.map(\.name) == ["veth1"])
        #expect(verdict.reason.code == .allDown)
    }

    @Test func otherDefaultsAreListedBesideADeadEgress() throws {
        let wlan0 = Self.wlan0.withDefaultRoute("198.51.100.1", metric: 600)
        let evidence = Evidence.seeing(Self.eth0.withoutCarrier(), wlan0)
            .routed(.ipv4, through: Self.eth0, source: .from("192.0.2.7"))
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(verdict.interfaces.map(\.name) == ["eth0", "wlan0"])
        #expect(verdict.interfaces.map(\.reason.code) == [.noCarrier, .alternative])
        #expect(verdict.interfaces.last?.gateways.map(\.description) == ["198.51.100.1"])
    }

    @Test func graceEndsWithoutAnEvent() throws {
        let policy = EvaluationPolicy(configurationGrace: .seconds(10))
        let evidence = Evidence.seeing(
            Self.bare.expectingAddress(since: Self.now),
            Self.wireless.expectingAddress(since: Self.now + .seconds(3))
        )
        func verdict(after seconds: Int) throws -> Verdict {
            try #require(evidence.verdict(policy: policy, now: Self.now + .seconds(seconds)))
        }
        #expect(try verdict(after: 0).reviseAt == Self.now + .seconds(10))
        #expect(try verdict(after: 9).reason.message == "eth0 is waiting for an address")
        #expect(try verdict(after: 10).reason.message == "wlan0 is waiting for an address")
        #expect(try verdict(after: 10).reviseAt == Self.now + .seconds(13))
        #expect(try verdict(after: 13).status == .unsatisfied)
        #expect(try verdict(after: 13).reviseAt == nil)
    }

    @Test func routeIsWaitedForWithoutAnEvent() throws {
        let evidence = Evidence.seeing(Self.wlan0.added(at: Self.now))
        let policy = EvaluationPolicy()
        let waiting = try #require(evidence.verdict(policy: policy, now: Self.now))
        #expect(waiting.reviseAt == Self.now + .seconds(1))
        let over = try #require(evidence.verdict(policy: policy, now: Self.now + .seconds(1)))
        #expect(over.status == .unsatisfied)
        #expect(over.reviseAt == nil)
    }

    // MARK: PPP

    @Test func lostCableUnderPPPIsKnownBeforePPPKnows() throws {
        var session = NetworkInterface.tunnel("ppp0", 7, kind: "ppp").with("198.51.100.7/32")
        session.underlyingIndex = 2
        let cable = NetworkInterface.wired("eth0", 2)
        for (device, status, code) in [
            (cable, PathStatus.satisfied, PathReason.Code.routed),
            (cable.changed { $0.hasCarrier = false }, .unsatisfied, .noCarrier),
        ] {
            var evidence = Evidence(at: Self.now)
            evidence.interfaces = [device, session]
            evidence.referenceRoutes = ReferenceRoute.defaultDestinations.map { destination in
                guard destination.family == .ipv4 else { return ReferenceRoute(to: destination, .noRoute) }
                let nextHop = NextHop(interfaceIndex: 7)
                let source = RouteSource.address(.fixture("198.51.100.7"))
                return ReferenceRoute(to: destination, .route(Route(nextHops: [nextHop], source: source)))
            }
            let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
            #expect(verdict.status == status)
            #expect(verdict.reason.code == code)
            if code == .noCarrier { #expect(verdict.reason.message == "eth0 below ppp0 has no carrier") }
        }
    }

    @Test func interfaceThatTheReasonNamesIsListed() throws {
        var session = NetworkInterface.tunnel("ppp0", 7, kind: "ppp").with("198.51.100.7/32")
        session.flags = []
        var evidence = Evidence(at: Self.now)
        evidence.interfaces = [.wired("eth0", 2), session]
        evidence.referenceRoutes = ReferenceRoute.defaultDestinations.map { destination in
            guard destination.family == .ipv4 else { return ReferenceRoute(to: destination, .noRoute) }
            return ReferenceRoute(to: destination, .route(Route(nextHops: [NextHop(interfaceIndex: 7)])))
        }
        let verdict = try #require(evidence.verdict(policy: EvaluationPolicy(), now: Self.now))
        #expect(verdict.reason.message.contains("ppp0"))
        #expect(verdict.interfaces.map(\.name).contains("ppp0"))
    }
}
