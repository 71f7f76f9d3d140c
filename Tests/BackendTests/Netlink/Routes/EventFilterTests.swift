// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct EventFilterTests {
    private static let referenceRoutes = NetlinkMonitor.Options().referenceDestinations

    /// What the program has to do, in plain words.
    private func reference(_ message: RouteMessage, _ watched: Set<InternetAddress>) -> Bool {
        guard message.type == 24 || message.type == 25, let destination = message.destination else { return true }
        guard message.family == 2 || message.family == 10 else { return true }
        let family = watched.filter { $0.family == destination.family }
        if family.count > EventFilter.limit { return true }
        let compared = min(Int(message.length), 64)
        return family.contains { ($0.bits ^ destination.bits) >> (destination.bitWidth - compared) == 0 }
    }

    private func randomAddress(_ generator: inout SeededGenerator) -> InternetAddress {
        Bool.random(using: &generator)
            ? InternetAddress(ipv4: .random(in: 0...(.max), using: &generator))
            : InternetAddress(ipv6: .random(in: 0...(.max), using: &generator))
    }

    /// A prefix that covers the address, or misses it by one bit at any place.
    private func randomPrefix(
        near address: InternetAddress,
        _ generator: inout SeededGenerator
    ) -> (InternetAddress, Int) {
        let width = address.bitWidth
        let length = Int.random(in: 0...width, using: &generator)
        var bits = address.bits
        if Bool.random(using: &generator) { bits ^= 1 << UInt128(Int.random(in: 0..<width, using: &generator)) }
        bits = length == 0 ? 0 : (bits >> (width - length)) << (width - length)
        return (width == 32 ? InternetAddress(ipv4: UInt32(bits)) : InternetAddress(ipv6: bits), length)
    }

    @Test(arguments: [0, 1, 4, 30] as [Int])
    func passesExactlyWhatCoversAWatchedAddress(count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        var watched = Set(Self.referenceRoutes)
        for _ in 0..<count { watched.insert(self.randomAddress(&generator)) }
        let machine = try BPFMachine(EventFilter(.init(destinations: watched)).instructions)
        var passed = 0
        for _ in 0..<4000 {
            let anchor = watched.sorted().randomElement(using: &generator) ?? self.randomAddress(&generator)
            let address = Int.random(in: 0..<4, using: &generator) == 0 ? self.randomAddress(&generator) : anchor
            let (destination, length) = self.randomPrefix(near: address, &generator)
            let message = RouteMessage(destination, length: length, isRemoval: .random(using: &generator))
            let passes = machine.run(on: message.bytes).passes
            passed += passes ? 1 : 0
            #expect(passes == self.reference(message, watched), "\(message)")
        }
        // Neither side of the comparison is empty.
        #expect((400..<3600).contains(passed))
    }

    /// A scan of Wi-Fi networks ends with a message that has a name and IFLA_WIRELESS (11), and no IFLA_OPERSTATE (16).
    @Test func wirelessEventsAreLeftToTheFilter() throws {
        let machine = try BPFMachine(EventFilter(.init()).instructions)
        func passes(_ type: UInt16, family: UInt8 = 0, _ attributes: [UInt16]) -> Bool {
            let header: [UInt8] = [family, 0, 1, 0, 3, 0, 0, 0, 0x43, 0x10, 0, 0, 0, 0, 0, 0]
            let attributes = attributes.flatMap { [8, 0, UInt8($0), 0, 1, 0, 0, 0] as [UInt8] }
            let length = UInt8(16 + header.count + attributes.count)
            let bytes = [length, 0, 0, 0, UInt8(type), 0] + [UInt8](repeating: 0, count: 10) + header + attributes
            return machine.run(on: bytes).passes
        }
        #expect(!passes(16, [3, 11]))
        #expect(passes(16, [3, 11, 16]), "a full message")
        #expect(passes(16, [3, 16]))
        #expect(passes(16, [3]))
        #expect(passes(16, []))
        #expect(passes(17, [3, 11]), "an interface that goes")
    }

    /// Of IPv6 there are as many as neighbours that redirect.
    @Test(arguments: [false, true]) func routesToSingleHosts(matter: Bool) throws {
        let machine = try BPFMachine(EventFilter(.init(hostRoutes: matter)).instructions)
        func passes(_ destination: InternetAddress, _ length: Int) -> Bool {
            machine.run(on: RouteMessage(destination, length: length).bytes).passes
        }
        #expect(passes(InternetAddress(ipv4: 0xCB00_7109), 32) == matter)
        #expect(!passes(InternetAddress(ipv4: 0xCB00_7100), 24))
        #expect(!passes(InternetAddress(ipv6: 0x2001_0DB8 << 96 | 1), 128))
    }

    @Test func everyLengthIsExactToTheBit() throws {
        let watched = Set(Self.referenceRoutes)
        let machine = try BPFMachine(EventFilter(.init(destinations: watched)).instructions)
        for address in Self.referenceRoutes {
            for length in 0...address.bitWidth {
                for flipped in -1..<address.bitWidth {
                    let bits = flipped < 0 ? address.bits : address.bits ^ (1 << UInt128(flipped))
                    let destination =
                        address.family == .ipv4 ? InternetAddress(ipv4: UInt32(bits)) : InternetAddress(ipv6: bits)
                    let message = RouteMessage(destination, length: length)
                    #expect(
                        machine.run(on: message.bytes).passes == self.reference(message, watched),
                        "\(message)"
                    )
                }
            }
        }
    }

    @Test(arguments: [
        ("0.0.0.0/1", true), ("128.0.0.0/1", true), ("8.0.0.0/7", true), ("9.0.0.1/32", true), ("9.0.0.2/32", false),
        ("10.0.0.0/8", false), ("192.0.2.0/24", false), ("2000::/3", true), ("2600::/16", true), ("fc00::/7", false),
        ("8000::/1", false), ("2600::1/128", true),
        // Compared to 64 bits only: one too many, as documented.
        ("2600::2/128", true), ("2600:0:0:1::/64", false),
    ])
    func knownLayouts(text: String, passes: Bool) throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: Set(Self.referenceRoutes))).instructions)
        let prefix = AddressPrefix.fixture(text)
        #expect(machine.run(on: RouteMessage(prefix.address, length: prefix.length).bytes).passes == passes)
    }

    @Test func whatIsNotAboutARoutePasses() throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: [])).instructions)
        for name in Fixture.names where !name.hasPrefix("route-") && name != "newlink-wireless-event" {
            for datagram in try Fixture.datagrams(name) { #expect(machine.run(on: datagram).passes, "\(name)") }
        }
        var generator = SeededGenerator(seed: 3)
        for type in 0...200 as ClosedRange<UInt16> where ![24, 25, 28, 29, 80].contains(type) {
            var message = RouteMessage(self.randomAddress(&generator), length: 32)
            message.type = type
            #expect(machine.run(on: message.bytes).passes, "\(message)")
        }
    }

    @Test func otherFamiliesPass() throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: [])).instructions)
        for family in 0...255 as ClosedRange<UInt8> where family != 2 && family != 10 {
            var message = RouteMessage(.fixture("192.0.2.0"), length: 20)
            message.family = family
            #expect(machine.run(on: message.bytes).passes, "\(message)")
        }
    }

    @Test func recordedDefaultRoutesPass() throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: Set(Self.referenceRoutes))).instructions)
        for name in ["route-ipv4", "route-ipv4-multipath", "route-ipv4-nexthop-object", "route-ipv6-ra"] {
            for datagram in try Fixture.datagrams(name) { #expect(machine.run(on: datagram).passes, "\(name)") }
        }
    }

    @Test func nothingWatchedMeansOnlyDefaultRoutes() throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: [])).instructions)
        #expect(machine.run(on: RouteMessage(.fixture("0.0.0.0"), length: 0).bytes).passes)
        #expect(!machine.run(on: RouteMessage(.fixture("0.0.0.0"), length: 1).bytes).passes)
        #expect(machine.run(on: RouteMessage(.fixture("::"), length: 0).bytes).passes)
        #expect(!machine.run(on: RouteMessage(.fixture("::"), length: 1).bytes).passes)
    }

    /// Addresses in 10.0.0.0/8 or fd00::/8.
    private func hosts(_ count: Int, _ family: AddressFamily) -> Set<InternetAddress> {
        Set(
            (0..<count).map { number in
                family == .ipv4
                    ? InternetAddress(ipv4: 0x0A00_0000 | UInt32(number))
                    : InternetAddress(ipv6: 0xFD << 120 | UInt128(number) << 64)
            }
        )
    }

    @Test(arguments: AddressFamily.allCases)
    func beyondTheLimitTheWholeFamilyPasses(family: AddressFamily) throws {
        let ipv4 = RouteMessage(.fixture("192.0.2.0"), length: 24)
        let ipv6 = RouteMessage(.fixture("2001:db8::"), length: 32)
        let (own, other) = family == .ipv4 ? (ipv4, ipv6) : (ipv6, ipv4)
        let atLimit = try BPFMachine(
            EventFilter(.init(destinations: self.hosts(EventFilter.limit, family))).instructions
        )
        #expect(!atLimit.run(on: own.bytes).passes)
        #expect(!atLimit.run(on: other.bytes).passes)
        let beyond = try BPFMachine(
            EventFilter(.init(destinations: self.hosts(EventFilter.limit + 1, family))).instructions
        )
        #expect(beyond.run(on: own.bytes).passes)
        #expect(!beyond.run(on: other.bytes).passes)
    }

    @Test func programsAreBounded() throws {
        let usual = EventFilter(.init(destinations: Set(Self.referenceRoutes))).instructions
        #expect(usual.count <= 160)
        let largest = EventFilter(
            .init(
                destinations: self.hosts(EventFilter.limit, .ipv4).union(self.hosts(EventFilter.limit, .ipv6)),
                gateways: self.hosts(EventFilter.gatewayLimit, .ipv4)
                    .union(self.hosts(EventFilter.gatewayLimit, .ipv6)),
                followsRecovery: true
            )
        )
        // The kernel charges its own form, 9 to 10 KiB of this one, and twice while it replaces a program.
        #expect(largest.instructions.count <= 900)
        let machine = try BPFMachine(largest.instructions)
        let message = RouteMessage(.fixture("2001:db8::"), length: 64)
        #expect(machine.run(on: message.bytes).steps <= largest.instructions.count)
        #expect(EventFilter(.init(destinations: self.hosts(5000, .ipv6))).instructions.count <= 150)
    }

    @Test func cutMessagesNeverRunAway() throws {
        let machine = try BPFMachine(EventFilter(.init(destinations: Set(Self.referenceRoutes))).instructions)
        let bytes = RouteMessage(.fixture("2001:db8::"), length: 64).bytes
        for length in 0...bytes.count { #expect(machine.run(on: Array(bytes.prefix(length))).steps <= 150) }
    }

    @Test func machineRefusesWhatTheKernelRefuses() {
        typealias Instruction = FilterInstruction
        let accept = Instruction(code: 0x06, operand: 1)
        #expect(throws: BPFMachine.Refusal.loadOfUnsetCell(at: 0)) {
            try BPFMachine([Instruction(code: 0x60, operand: 1), accept])
        }
        // Stored on one of two paths only.
        #expect(throws: BPFMachine.Refusal.loadOfUnsetCell(at: 2)) {
            try BPFMachine([
                Instruction(code: 0x15, jumpTrue: 1, jumpFalse: 0, operand: 7), Instruction(code: 0x02, operand: 1),
                Instruction(code: 0x60, operand: 1), accept,
            ])
        }
        #expect(throws: BPFMachine.Refusal.jumpOutOfBounds(at: 0)) {
            try BPFMachine([Instruction(code: 0x05, operand: 1), accept])
        }
        #expect(throws: BPFMachine.Refusal.noReturnAtEnd) { try BPFMachine([Instruction(code: 0x00)]) }
    }
}
