// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct AddressUpdateTests {
    private func update(
        _ index: UInt32,
        _ text: String,
        scope: AddressScope = .global,
        state: AddressState = [],
        isDynamic: Bool = false,
        stamp: Int64
    ) -> AddressUpdate {
        AddressUpdate(
            interfaceIndex: index,
            address: InterfaceAddress(.fixture(text), scope: scope, state: state),
            isDynamic: isDynamic,
            createdAt: MonotonicTime(nanoseconds: stamp * 10_000_000)
        )
    }

    @Test func ipv4() throws {
        let decoded = try Fixture.decode("newaddr-ipv4", AddressUpdate.init)
        let stamp = try #require(decoded.first??.createdAt.nanoseconds) / 10_000_000
        #expect(decoded == [update(3, "198.18.0.2/24", stamp: stamp)])
        #expect(stamp == 0x4_DE12)
    }

    /// The kernel counts hundredths of a second in 32 bits.
    @Test(arguments: [(0, 5), (0, 0), (1, 3), (40, 7)])
    func theTimeOfTheKernelBeginsAnew(turns: Int64, stamp: Int64) {
        let full: Int64 = turns << 32 + stamp
        for delay: Int64 in [-1, 0, 1_000] {
            var update = self.update(3, "198.18.0.2/24", stamp: stamp)
            update.completeTime(at: MonotonicTime(nanoseconds: (full + delay) * 10_000_000))
            #expect(update.createdAt.nanoseconds == full * 10_000_000)
        }
    }

    @Test(arguments: ["newaddr-ipv4-peer", "deladdr-ipv4-peer"])
    func pointToPointAddressIsOursAndNotThePeers(name: String) throws {
        let decoded = try Fixture.decode(name, AddressUpdate.init)
        #expect(decoded.map { $0?.address.prefix } == [.fixture("10.9.0.1/32")])
        #expect(decoded.first??.address.state == [])
        #expect(decoded.first??.peer == .fixture("10.9.0.2"))
    }

    @Test func ipv6BecomesValid() throws {
        let decoded = try Fixture.decode("newaddr-ipv6-tentative", AddressUpdate.init)
        let stamp: Int64 = 0x4_DE31
        #expect(
            decoded == [
                update(3, "2001:db8::2/64", state: .tentative, isDynamic: true, stamp: stamp),
                update(3, "2001:db8::2/64", isDynamic: true, stamp: stamp),
            ]
        )
    }

    @Test func duplicateAddress() throws {
        let decoded = try Fixture.decode("newaddr-ipv6-dadfailed", AddressUpdate.init)
        let stamp: Int64 = 0x4_E03D
        #expect(
            decoded == [
                update(3, "2001:db8::5/64", state: .tentative, stamp: stamp),
                update(3, "2001:db8::5/64", state: [.tentative, .duplicate], stamp: stamp),
            ]
        )
        #expect(decoded.last??.address.isUsable == false)
    }

    @Test func dumpHoldsEveryAddressAndItsEnd() throws {
        let messages = try Fixture.decode("dump-addresses") { ($0.error, AddressUpdate($0)) }
        let updates = messages.compactMap { $0?.1 }
        #expect(
            updates.map { "\($0.interfaceIndex) \($0.address.prefix)" } == [
                "1 127.0.0.1/8", "3 198.18.0.2/24", "6 198.18.1.2/24", "1 ::1/128", "2 2001:db8::5/64",
                "2 fe80::a056:eff:fe74:c553/64", "3 2001:db8::5/64", "3 2001:db8::2/64",
                "3 fe80::640a:21ff:fed3:fb38/64", "5 fe80::7c38:80ff:fe5c:575c/64",
                "6 fe80::c0f0:a0ff:fecc:48d7/64", "8 fe80::7839:33ff:fe87:3ae3/64",
                "9 fe80::8f5:92ff:fead:8d26/64",
            ]
        )
        #expect(
            updates.map(\.address.scope) == [
                .host, .global, .global, .host, .global, .link, .global, .global, .link, .link, .link, .link, .link,
            ]
        )
        #expect(updates.filter(\.isDynamic).map(\.address.prefix) == [.fixture("2001:db8::2/64")])
        #expect(updates.filter { !$0.address.isUsable }.map(\.interfaceIndex) == [3])
        #expect(messages.last??.0 == 0)
    }
}
