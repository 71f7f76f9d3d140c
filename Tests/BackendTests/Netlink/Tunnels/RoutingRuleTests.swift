// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// Which mark in the rules is that of a tunnel's own packets.
@Suite struct RoutingRuleTests {
    /// The rules that every namespace has.
    private static let standard = [
        RoutingRule(family: .ipv4, priority: 32_766, table: 254),
        RoutingRule(family: .ipv4, priority: 32_767, table: 253),
    ]

    private func ownMark(_ table: UInt32, _ rules: RoutingRule...) -> UInt32? {
        RoutingRule.ownMark(ofTunnelIn: table, .ipv4, among: Self.standard + rules)
    }

    @Test func wireGuardQuick() {
        let rule = RoutingRule(family: .ipv4, priority: 32_765, table: 51_820, mark: 51_820, isInverted: true)
        #expect(self.ownMark(51_820, rule) == 51_820)
        #expect(self.ownMark(51_821, rule) == nil)
        #expect(RoutingRule.ownMark(ofTunnelIn: 51_820, .ipv6, among: [rule]) == nil)
    }

    @Test func tailscale() {
        #expect(
            self.ownMark(
                52,
                RoutingRule(family: .ipv4, priority: 5210, table: 254, mark: 0x80000),
                RoutingRule(family: .ipv4, priority: 5230, table: 253, mark: 0x80000),
                RoutingRule(family: .ipv4, priority: 5250, table: nil, mark: 0x80000),
                RoutingRule(family: .ipv4, priority: 5270, table: 52)
            ) == 0x80000
        )
    }

    @Test func marksOfOthers() {
        // A transparent proxy, Cilium, and mwan3, which have tables of their own.
        let others = [
            RoutingRule(family: .ipv4, priority: 9, table: 2004, mark: 0x200),
            RoutingRule(family: .ipv4, priority: 10, table: 2005, mark: 0xA00),
            RoutingRule(family: .ipv4, priority: 100, table: 100, mark: 1),
            RoutingRule(family: .ipv4, priority: 2001, table: 1, mark: 0x100),
            RoutingRule(family: .ipv4, priority: 2253, table: nil, mark: 0x3D00),
        ]
        for table: UInt32 in [52, 254] {
            let rules = Self.standard + others + [RoutingRule(family: .ipv4, priority: 5270, table: 52)]
            #expect(RoutingRule.ownMark(ofTunnelIn: table, .ipv4, among: rules) == nil)
        }
        // One that leads to the ordinary routes only after the tunnel took the packets.
        #expect(
            self.ownMark(
                52,
                RoutingRule(family: .ipv4, priority: 5270, table: 52),
                RoutingRule(family: .ipv4, priority: 6000, table: 254, mark: 7)
            ) == nil
        )
    }

    @Test func contradictingRules() {
        let first = RoutingRule(family: .ipv4, priority: 100, table: 52, mark: 7, isInverted: true)
        let second = RoutingRule(family: .ipv4, priority: 200, table: 52, mark: 8, isInverted: true)
        #expect(self.ownMark(52, second, first) == 7, "the kernel takes the first that fits")
    }

    @Test func read() {
        typealias Octets = MessageOctets
        // struct fib_rule_hdr: AF_INET6, table 252 (COMPAT), FR_ACT_TO_TBL, FIB_RULE_INVERT.
        let header: [UInt8] = [10, 0, 0, 0, 252, 0, 0, 1, 2, 0, 0, 0]
        let attributes = [Octets.attribute(6, 32_765), Octets.attribute(10, 51_820), Octets.attribute(15, 51_820)]
        let message = Octets.message(32, header: header, attributes)
        #expect(
            Octets.read(message, RoutingRule.init(_:))
                == RoutingRule(family: .ipv6, priority: 32_765, table: 51_820, mark: 51_820, isInverted: true)
        )
        let aboutUDP = Octets.message(32, header: header, attributes + [Octets.attribute(22, [17])])
        #expect(Octets.read(aboutUDP, RoutingRule.init(_:))?.protocolNumber == 17)
        for length in 16..<28 {
            let part = Octets.word(UInt32(length)) + message[4..<length]
            #expect(Octets.read(part, RoutingRule.init(_:)) == nil)
        }
        let unreachable = Octets.message(32, header: [2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0], [Octets.attribute(10, 7)])
        #expect(Octets.read(unreachable, RoutingRule.init(_:))?.table == nil)
    }

    // MARK: Rules that answer "unreachable"

    /// A rule of type unreachable as the kernel tells of it, with what it asks for.
    private func unreachable(_ priority: UInt32, sourceLength: UInt8 = 0, _ attributes: [UInt8]...) -> RoutingRule? {
        typealias Octets = MessageOctets
        // FRA_PRIORITY, FRA_SUPPRESS_PREFIXLEN, FRA_TABLE.
        let usual = [Octets.attribute(6, priority), Octets.attribute(14, .max), Octets.attribute(15, 0)]
        let header: [UInt8] = [2, 0, sourceLength, 0, 0, 0, 0, 7, 0, 0, 0, 0]
        return Octets.read(Octets.message(32, header: header, usual + attributes), RoutingRule.init(_:))
    }

    private func refuses(_ rule: RoutingRule?, mark: UInt32? = nil) throws -> Bool {
        let flow = Flow(to: .fixture("9.0.0.1")).with(\.mark, mark)
        return RoutingRule.refuses(flow, among: Self.standard + [try #require(rule)])
    }

    @Test func anUnreachableRuleBeforeTheTablesRefuses() throws {
        #expect(try self.refuses(self.unreachable(100)))
        #expect(try !self.refuses(self.unreachable(40_000)), "a default route would help")
        #expect(!RoutingRule.refuses(Flow(to: .fixture("2600::1")), among: try [#require(self.unreachable(100))]))
    }

    @Test func anUnreachableRuleThatIsPassedOverRefusesNothing() throws {
        let rule = try #require(self.unreachable(200))
        func refuses(_ priority: UInt32, goto target: UInt32) -> Bool {
            var other = RoutingRule(family: .ipv4, priority: priority)
            other.target = target
            return RoutingRule.refuses(Flow(to: .fixture("9.0.0.1")), among: Self.standard + [other, rule])
        }
        #expect(!refuses(100, goto: 300))
        #expect(refuses(100, goto: 200) && refuses(100, goto: 150) && refuses(250, goto: 300))
        // struct fib_rule_hdr with FR_ACT_GOTO; FRA_PRIORITY, FRA_GOTO.
        typealias Octets = MessageOctets
        let header: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]
        let message = Octets.message(32, header: header, [Octets.attribute(6, 100), Octets.attribute(4, 300)])
        let read = try #require(Octets.read(message, RoutingRule.init(_:)))
        #expect(read.target == 300 && read.table == nil && read.priority == 100)
    }

    @Test func anUnreachableRuleMayBeAboutOthers() throws {
        typealias Octets = MessageOctets
        // FRA_FWMARK and FRA_FWMASK, FRA_IIFNAME, FRA_UID_RANGE.
        let marked = self.unreachable(100, Octets.attribute(10, 7), Octets.attribute(16, .max))
        #expect(try !self.refuses(marked))
        #expect(try self.refuses(marked, mark: 7))
        var inverted = marked
        inverted?.isInverted = true
        #expect(try self.refuses(inverted))
        #expect(try !self.refuses(inverted, mark: 7))
        #expect(try !self.refuses(self.unreachable(100, Octets.attribute(10, 7), Octets.attribute(16, 0xFF)), mark: 7))
        #expect(try !self.refuses(self.unreachable(100, Octets.attribute(3, 0x6F6C))))
        #expect(try !self.refuses(self.unreachable(100, Octets.attribute(20, 1000))))
        #expect(try !self.refuses(self.unreachable(100, sourceLength: 24)))
        #expect(try !self.refuses(RoutingRule(family: .ipv4, priority: 100, table: nil)), "another action")
    }
}
