// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathSysfs

@Suite struct ProcTablesTests {
    @Test func ipv6Addresses() throws {
        let bytes = Array(ProcTexts.ifInet6.utf8)
        let parsed = IPv6Line.parse(bytes.span, isComplete: true)
        let lines = try #require(parsed)
        #expect(lines.map(\.interfaceIndex) == [1, 3, 3, 3])
        #expect(lines.map(\.address.scope) == [.host, .link, .global, .global])
        #expect(lines.map(\.address.state) == [[], [], .duplicate, .tentative])
        #expect(lines.map(\.isDynamic) == [false, false, true, true])
        #expect(lines[2].address.prefix.description == "2001:db8::2/64")
    }

    @Test(arguments: [
        "0 1 40 00 80 v0\n", "20010db8000000000000000000000002 00 40 00 80 v0\n",
        "20010db8000000000000000000000002 03 81 00 80 v0\n", "20010db8000000000000000000000002 03 40 00",
        "20010db800000000000000000000000g 03 40 00 80 v0\n", "\n",
    ])
    func lineThatIsNoAddressSpoilsTheList(_ text: String) {
        let bytes = Array((ProcTexts.ifInet6 + text).utf8)
        #expect(IPv6Line.parse(bytes.span, isComplete: true) == nil)
    }

    @Test func devices() {
        let bytes = Array(ProcTexts.dev.utf8)
        #expect(DeviceList.parse(bytes.span, isComplete: true) == ["lo", "wlp2s0", "longest-name-15"])
        #expect(DeviceList.parse(bytes.span, isComplete: false) == nil)
    }

    @Test(arguments: ["", "lo: 1\n", "Inter-|\n", "Inter-|\n face\n lo\n", "Inter-|\n face\n a/b: 1\n"])
    func somethingElseIsNoListOfDevices(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(DeviceList.parse(bytes.span, isComplete: true) ?? [] == [])
    }

    @Test func attributes() {
        func parse<Value>(_ text: String, _ body: (Span<UInt8>) -> Value?) -> Value? {
            let bytes = Array(text.utf8)
            return body(bytes.span)
        }
        #expect(parse("17\n", Attribute.number) == 17)
        for text in ["", "\n", "-1\n", "17 18\n", "0x1\n", "4294967296\n", "99999999999999999999\n", "a\n"] {
            #expect(parse(text, Attribute.number) == nil, "\(text)")
        }
        #expect(parse("lowerlayerdown\n", Attribute.operationalState) == .lowerLayerDown)
        #expect(parse("notpresent\n", Attribute.operationalState) == .notPresent)
        #expect(parse("Up\n", Attribute.operationalState) == nil)
        #expect(parse("02:00:5e:10:00:01\n", Attribute.hardwareAddress) == [2, 0, 0x5E, 16, 0, 1])
        #expect(parse("0a:00:00:01\n", Attribute.hardwareAddress) == [10, 0, 0, 1])
        for text in ["", "\n", "02\u{0}", "02:", "2:3", "02-03", String(repeating: "00:", count: 100)] {
            #expect(parse(text, Attribute.hardwareAddress) == nil, "\(text)")
        }
        #expect(parse("INTERFACE=a\nDEVTYPE=wlan\nIFINDEX=2\n", Attribute.deviceType) == "wlan")
        #expect(parse("XDEVTYPE=wlan\nDEVTYPE=\n", Attribute.deviceType) == nil)
    }
}
