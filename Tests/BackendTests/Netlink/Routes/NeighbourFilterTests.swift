// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct NeighbourFilterTests {
    private static let gateways: Set<InternetAddress> = [
        .fixture("192.0.2.1"), .fixture("203.0.113.1"), .fixture("fe80::1"), .fixture("fe80::aaaa:bbbb"),
    ]
    /// From NUD_INCOMPLETE to NUD_PERMANENT.
    private static let states: [UInt16] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80]
    private static let failed: UInt16 = 0x20

    private func machine(
        _ gateways: Set<InternetAddress> = Self.gateways,
        followsRecovery: Bool = false
    ) throws -> BPFMachine {
        try BPFMachine(
            EventFilter(.init(destinations: [], gateways: gateways, followsRecovery: followsRecovery)).instructions
        )
    }

    @Test func onlyFailingGatewaysPass() throws {
        let machine = try self.machine()
        for gateway in Self.gateways.sorted() {
            for state in Self.states {
                let message = NeighbourMessage(address: gateway, state: state)
                #expect(machine.run(on: message.bytes).passes == (state == Self.failed), "\(gateway) \(state)")
            }
            #expect(machine.run(on: NeighbourMessage(type: 29, address: gateway).bytes).passes)
        }
        for other in ["192.0.2.2", "192.0.3.1", "fe80::2", "fe80::1:0:0:1", "fe80::aaaa:bbba"] {
            for state in Self.states {
                let message = NeighbourMessage(address: .fixture(other), state: state)
                #expect(!machine.run(on: message.bytes).passes, "\(other) \(state)")
            }
            #expect(!machine.run(on: NeighbourMessage(type: 29, address: .fixture(other)).bytes).passes)
        }
    }

    @Test func afterAFailureEveryChangeOfAGatewayPasses() throws {
        let machine = try self.machine(followsRecovery: true)
        for gateway in Self.gateways.sorted() {
            for state in Self.states {
                #expect(machine.run(on: NeighbourMessage(address: gateway, state: state).bytes).passes)
            }
        }
        for other in ["192.0.2.2", "fe80::2"] {
            #expect(!machine.run(on: NeighbourMessage(address: .fixture(other)).bytes).passes)
        }
        // NTF_ROUTER, which IPv4 does not know.
        #expect(machine.run(on: NeighbourMessage(address: .fixture("fe80::2"), flags: 0x80).bytes).passes)
        #expect(!machine.run(on: NeighbourMessage(address: .fixture("192.0.2.2"), flags: 0x80).bytes).passes)
        #expect(
            !(try self.machine().run(on: NeighbourMessage(address: .fixture("fe80::2"), flags: 0x80).bytes).passes)
        )
    }

    @Test func beyondTheLimitEveryNeighbourCountsAsAGateway() throws {
        let many = Set((1...EventFilter.gatewayLimit + 1).map { InternetAddress(ipv4: 0x0A00_0000 | UInt32($0)) })
        let machine = try self.machine(many)
        let other = NeighbourMessage(address: .fixture("192.0.2.9"), state: Self.failed)
        #expect(machine.run(on: other.bytes).passes)
        #expect(!machine.run(on: NeighbourMessage(address: .fixture("192.0.2.9")).bytes).passes)
        let ipv6 = NeighbourMessage(address: .fixture("fe80::9"), state: Self.failed)
        #expect(!machine.run(on: ipv6.bytes).passes)
        let fewer = try self.machine(Set(many.sorted().dropLast()))
        #expect(!fewer.run(on: other.bytes).passes)
    }

    @Test func forwardingEntriesOfBridgesAreNoNeighbours() throws {
        var bytes = NeighbourMessage(address: .fixture("192.0.2.1"), state: Self.failed).bytes
        // AF_BRIDGE.
        bytes[16] = 7
        #expect(!(try self.machine().run(on: bytes).passes))
    }

    @Test func forwardingEntriesForEverythingPassWhereTheyMatter() throws {
        func bytes(_ hardwareAddress: [UInt8], type: UInt16 = 28) -> [UInt8] {
            let address = InternetAddress.fixture("203.0.113.9")
            var message = NeighbourMessage(type: type, address: address, state: 0x80)
            message.hardwareAddress = hardwareAddress
            var bytes = message.bytes
            bytes[16] = 7
            return bytes
        }
        let nothing = [UInt8](repeating: 0, count: 6)
        for followsRecovery in [false, true] {
            let interests = EventFilter.Interests(
                forwarding: true,
                gateways: Self.gateways,
                followsRecovery: followsRecovery
            )
            let machine = try BPFMachine(EventFilter(interests).instructions)
            for type in [28, 29] as [UInt16] {
                #expect(machine.run(on: bytes(nothing, type: type)).passes)
                for position in 0..<6 {
                    var other = nothing
                    other[position] = 1
                    #expect(!machine.run(on: bytes(other, type: type)).passes, "one of thousands that are learnt")
                }
            }
            let gateway = NeighbourMessage(address: .fixture("192.0.2.1"), state: Self.failed)
            #expect(machine.run(on: gateway.bytes).passes)
            for length in 16..<bytes(nothing).count - 12 {
                #expect(!machine.run(on: Array(bytes(nothing).prefix(length))).passes)
            }
        }
        #expect(!(try self.machine().run(on: bytes(nothing)).passes), "they do not matter")
        #expect(!(try self.machine(followsRecovery: true).run(on: bytes(nothing)).passes))
    }

    @Test func cutMessagesDoNotPassForGateways() throws {
        let machine = try self.machine()
        let bytes = NeighbourMessage(address: .fixture("fe80::1"), state: Self.failed).bytes
        for length in 16..<bytes.count - 12 { #expect(!machine.run(on: Array(bytes.prefix(length))).passes) }
    }

    @Test func settingsPassWhenRoutesWithoutCarrierAreConcerned() throws {
        let machine = try self.machine()
        for family in [2, 10] as [UInt8] {
            #expect(machine.run(on: settingsMessage(family: family, [6])).passes)
            for setting in [2, 3, 4, 5, 7, 8] as [UInt16] {
                #expect(!machine.run(on: settingsMessage(family: family, [setting])).passes)
            }
            #expect(!machine.run(on: settingsMessage(family: family, [2, 3, 4, 5, 6, 8])).passes, "a new interface")
        }
        let bytes = settingsMessage([6])
        for length in 16..<bytes.count { #expect(!machine.run(on: Array(bytes.prefix(length))).passes) }
    }
}

@Suite struct NeighbourUpdateTests {
    private func read(_ bytes: [UInt8]) -> NeighbourUpdate? {
        var update: NeighbourUpdate?
        NetlinkMessage.forEach(in: bytes) { update = NeighbourUpdate($0) }
        return update
    }

    @Test func statesAndFlags() {
        let neighbour = Neighbour(interfaceIndex: 3, address: .fixture("fe80::1"))
        let reachable = self.read(NeighbourMessage(address: neighbour.address, flags: 0x80).bytes)
        var update = NeighbourUpdate(neighbour: neighbour, answers: true, isRouter: true)
        update.hardwareAddress = [2, 0, 0, 0, 0, 1]
        #expect(reachable == update)
        let failed = self.read(NeighbourMessage(address: neighbour.address, state: 0x20).bytes)
        (update.answers, update.isRouter) = (false, false)
        #expect(failed == update)
        let gone = self.read(NeighbourMessage(type: 29, address: neighbour.address, state: 0x20).bytes)
        update.answers = nil
        #expect(gone == update)
    }

    /// Valid entries answer, what is being asked (NUD_INCOMPLETE) does not yet, and NUD_NOARP and NUD_PERMANENT are
    /// never asked.
    @Test(arguments: [(0x01, nil), (0x02, true), (0x04, true), (0x08, true), (0x10, true), (0x40, nil), (0x80, nil)])
    func statesThatAnswer(state: UInt16, answers: Bool?) {
        let update = self.read(NeighbourMessage(address: .fixture("192.0.2.1"), state: state).bytes)
        #expect(update?.answers == answers)
        #expect(update?.isDecreed == (state >= 0x40))
    }

    /// `ip neighbour del` and `flush` have the kernel say that it failed, and forget it at once.
    @Test func whatIsForgottenAsSoonAsItFailedIsSomebodysWord() {
        func isDecreed(_ updated: UInt8?) -> Bool? {
            var message = NeighbourMessage(type: 29, address: .fixture("192.0.2.1"), state: 0x20)
            message.updated = updated
            return self.read(message.bytes)?.isDecreed
        }
        #expect(isDecreed(0) == true)
        #expect(isDecreed(1) == true)
        #expect(isDecreed(200) == false)
        #expect(isDecreed(nil) == false)
    }

    @Test func theAgeIsThatOfTheState() {
        let message = NeighbourMessage(address: .fixture("192.0.2.1"), state: 0x20, updated: 150)
        #expect(self.read(message.bytes)?.age == .milliseconds(1_500))
    }

    /// What was asked while the link was out, and what fails because of it when it is back, says nothing.
    @Test func whatWasAskedBeforeTheLinkCameBackIsOutdated() throws {
        func isOutdated(seconds: Int64, updated: UInt8 = 0, _ change: (inout LinkTable.Entry) -> Void) throws -> Bool {
            let message = NeighbourMessage(address: .fixture("192.0.2.1"), state: 0x20, updated: updated)
            var link = LinkTable.Entry(interface: NetworkInterface.wired("eth0", 3))
            change(&link)
            return try #require(self.read(message.bytes)).isOutdated(on: link, now: .second(100 + seconds))
        }
        let came: (inout LinkTable.Entry) -> Void = { $0.interface.carrierSince = .second(100) }
        #expect(try isOutdated(seconds: 0, came))
        #expect(try isOutdated(seconds: 3, came))
        #expect(try !isOutdated(seconds: 4, came))
        #expect(try isOutdated(seconds: 5, updated: 200, came), "it failed two seconds ago")
        #expect(try isOutdated(seconds: 1) { $0.linkLocalSince = .second(99) })
        #expect(try !isOutdated(seconds: 1) { _ in }, "nobody knows when the link came")
        #expect(try isOutdated(seconds: 9) { $0.interface.hasCarrier = false })
        #expect(try isOutdated(seconds: 9) { $0.interface.flags = [] })
        let message = NeighbourMessage(address: .fixture("192.0.2.1"), state: 0x20)
        let update = try #require(self.read(message.bytes))
        #expect(update.isOutdated(on: nil, now: .second(1)), "of an interface that is gone")
        var idle = update
        idle.age = .seconds(60)
        #expect(idle.isOutdated(on: LinkTable.Entry(interface: NetworkInterface.wired("eth0", 3)), now: .second(100)))
    }

    @Test func whoIsAskedASecondTimeDidNotAnswerTheFirst() {
        let answers = (0...3 as ClosedRange<UInt8>).map { probes in
            self.read(NeighbourMessage(address: .fixture("192.0.2.1"), state: 0x01, probes: probes).bytes)?.answers
        }
        #expect(answers == [nil, nil, false, false])
    }

    @Test func othersAreNone() {
        var bytes = NeighbourMessage(address: .fixture("192.0.2.1")).bytes
        #expect(self.read(bytes) != nil)
        bytes[16] = 7
        #expect(self.read(bytes) == nil, "a forwarding entry of a bridge")
        #expect(self.read(RouteMessage(.fixture("192.0.2.1"), length: 32).bytes) == nil)
    }
}

@Suite struct GatewayWatchTests {
    private let first = Neighbour(interfaceIndex: 3, address: .fixture("fe80::1"))
    /// The same address on another link.
    private let second = Neighbour(interfaceIndex: 4, address: .fixture("fe80::1"))
    private let stranger = Neighbour(interfaceIndex: 3, address: .fixture("fe80::9"))

    @Test func silentOnesAreRememberedUntilTheyAnswer() {
        var watch = GatewayWatch()
        #expect(watch.use([self.first]) == [self.first])
        #expect(watch.apply(NeighbourUpdate(neighbour: self.first, answers: false, isRouter: false)) == true)
        #expect(watch.use([self.second]) == [self.second])
        #expect(watch.silent == [self.first])
        #expect(watch.addresses == [self.first.address])
        #expect(watch.apply(NeighbourUpdate(neighbour: self.first, answers: true, isRouter: false)) == true)
        #expect(watch.silent.isEmpty)
    }

    @Test func whetherAGatewayAnswers() {
        var watch = GatewayWatch()
        #expect(watch.use([self.first]) == [self.first])
        func apply(_ answers: Bool?) -> Bool {
            watch.apply(NeighbourUpdate(neighbour: self.first, answers: answers, isRouter: false))
        }
        #expect(watch.answers(self.first) == nil)
        #expect(apply(nil) == false)
        #expect(apply(true) == true)
        #expect(apply(true) == false, "nothing new")
        #expect(watch.answers(self.first) == true)
        #expect(apply(false) == true)
        // Asked once more, or forgotten, which is no answer.
        #expect(apply(nil) == true, "the kernel may come back to it")
        #expect(watch.answers(self.first) == false)
        watch.forget(self.first.interfaceIndex)
        #expect(watch.answers(self.first) == nil)
    }

    @Test func aFailureThatSaysNothingIsFollowedAllTheSame() {
        var watch = GatewayWatch()
        _ = watch.use([self.first])
        func apply(_ answers: Bool?, isOutdated: Bool = false) -> Bool {
            watch.apply(
                NeighbourUpdate(neighbour: self.first, answers: answers, isRouter: false),
                isOutdated: isOutdated
            )
        }
        #expect(apply(false, isOutdated: true), "the kernel may choose another route")
        #expect(watch.silent == [self.first], "it matters when it answers")
        #expect(watch.answers(self.first) == nil)
        #expect(apply(false))
        #expect(watch.answers(self.first) == false)
        #expect(apply(false, isOutdated: true))
        #expect(watch.answers(self.first) == false, "what was true before an old failure is")
        #expect(apply(true))
        #expect(apply(false, isOutdated: true))
        watch.forget(self.first.interfaceIndex)
        #expect(apply(false))
        #expect(watch.answers(self.first) == false)
    }

    /// What is set by hand about a neighbour is no answer, and ends what was known of it.
    @Test func aDecreeIsNoAnswer() {
        var watch = GatewayWatch()
        _ = watch.use([self.first])
        let decree = NeighbourUpdate(neighbour: self.first, answers: nil, isDecreed: true, isRouter: false)
        #expect(watch.apply(decree) == false)
        for answers in [false, true] {
            #expect(
                watch.apply(NeighbourUpdate(neighbour: self.first, answers: answers, isRouter: false)) == true
            )
            #expect(watch.apply(decree) == true)
            #expect(watch.answers(self.first) == nil)
            #expect(watch.silent.isEmpty)
        }
    }

    @Test func aRouteThatComesAndGoesIsNoNews() {
        var watch = GatewayWatch()
        #expect(watch.use([self.first]) == [self.first])
        #expect(watch.use([]) == [])
        #expect(watch.use([self.first]) == [])
        let others = (0..<40 as Range<UInt128>).map { InternetAddress(ipv6: 0xFE80 << 112 | $0 + 100) }
        for address in others { _ = watch.use([Neighbour(interfaceIndex: 3, address: address)]) }
        #expect(watch.used.count <= EventFilter.gatewayLimit)
        #expect(watch.used.contains { $0.address == others.last })
    }

    @Test func strangersDoNotMatterUnlessARouterIsMissed() {
        var watch = GatewayWatch()
        _ = watch.use([self.first])
        #expect(watch.apply(NeighbourUpdate(neighbour: self.stranger, answers: false, isRouter: true)) == false)
        #expect(
            watch.apply(NeighbourUpdate(neighbour: self.second, answers: false, isRouter: false)) == false,
            "of another link"
        )
        #expect(watch.apply(NeighbourUpdate(neighbour: self.first, answers: false, isRouter: true)) == true)
        #expect(watch.apply(NeighbourUpdate(neighbour: self.stranger, answers: true, isRouter: true)) == true)
        #expect(watch.apply(NeighbourUpdate(neighbour: self.stranger, answers: true, isRouter: false)) == false)
    }

    @Test func whatIsRememberedIsBounded() {
        var watch = GatewayWatch()
        _ = watch.use([self.first])
        _ = watch.apply(NeighbourUpdate(neighbour: self.first, answers: false, isRouter: true))
        for number in 0..<1000 as Range<UInt128> {
            let router = Neighbour(interfaceIndex: 3, address: InternetAddress(ipv6: 0xFE80 << 112 | number + 100))
            _ = watch.apply(NeighbourUpdate(neighbour: router, answers: false, isRouter: true))
        }
        #expect(watch.silent.count <= EventFilter.gatewayLimit)
        #expect(watch.silent.contains(self.first))
    }
}
