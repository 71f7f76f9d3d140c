// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct InterfaceHintsTests {
    private let sysfs: TemporaryDirectory

    init() throws {
        self.sysfs = try TemporaryDirectory()
    }

    private func interface(_ name: String, index: UInt32, uevent: String = "") throws {
        try self.sysfs.write("class/net/\(name)/ifindex", "\(index)\n")
        try self.sysfs.write("class/net/\(name)/uevent", "INTERFACE=\(name)\nIFINDEX=\(index)\n\(uevent)")
    }

    private func read(_ name: String, _ index: UInt32) -> InterfaceHints? {
        InterfaceHints.read(name: name, index: index, root: self.sysfs.path)
    }

    @Test func virtualInterface() throws {
        try self.interface("tap0", index: 7)
        #expect(self.read("tap0", 7) == InterfaceHints())
    }

    @Test func deviceAndItsType() throws {
        try self.interface("wwan0", index: 7, uevent: "DEVTYPE=wwan\n")
        try self.sysfs.link("class/net/wwan0/device", to: "../../../devices/nowhere")
        #expect(self.read("wwan0", 7) == InterfaceHints(deviceType: "wwan", hasDevice: true))
    }

    @Test func driver() throws {
        try self.interface("wwan0", index: 7)
        try self.sysfs.makeDirectory("devices/usb1")
        try self.sysfs.link("devices/usb1/driver", to: "../../bus/usb/drivers/cdc_mbim")
        try self.sysfs.link("class/net/wwan0/device", to: "../../../devices/usb1")
        #expect(self.read("wwan0", 7) == InterfaceHints(hasDevice: true, driver: "cdc_mbim"))
    }

    @Test func lowers() throws {
        try self.interface("qmimux0", index: 7)
        try self.sysfs.makeDirectory("class/net/qmimux0/lower_wwan1")
        try self.sysfs.link("class/net/qmimux0/lower_a.b", to: "../a.b")
        try self.sysfs.makeDirectory("class/net/qmimux0/upper_br0")
        #expect(self.read("qmimux0", 7) == InterfaceHints(lowers: ["a.b", "wwan1"]))
    }

    @Test func interfaceOfAnotherNamespaceIsNotBelieved() throws {
        try self.interface("eth0", index: 7, uevent: "DEVTYPE=wlan\n")
        #expect(self.read("eth0", 8) == nil)
        #expect(self.read("eth0", 77) == nil)
        #expect(self.read("eth0", 0) == nil)
        #expect(self.read("eth0", 7) != nil)
    }

    @Test func missingInterfaceOrSysfs() throws {
        #expect(self.read("eth0", 7) == nil)
        try self.sysfs.write("class/net/bonding_masters", "bond0\n")
        #expect(self.read("bonding_masters", 7) == nil)
        #expect(InterfaceHints.read(name: "eth0", index: 7, root: self.sysfs["nothing"]) == nil)
    }

    @Test(arguments: ["..", ".", "../net/eth0", "eth0/../eth0", ""])
    func namesNeverLeaveTheirDirectory(name: String) throws {
        try self.interface("eth0", index: 7)
        try self.sysfs.write("class/ifindex", "7\n")
        try self.sysfs.write("class/net/ifindex", "9\n")
        #expect(self.read(name, 7) == nil)
    }

    @Test(arguments: ["", "\n", "x7\n", "-7\n", "7x\n"])
    func brokenIndex(text: String) throws {
        try self.sysfs.write("class/net/eth0/ifindex", text)
        #expect(self.read("eth0", 7) == (text == "7x\n" ? InterfaceHints() : nil))
    }

    @Test(
        arguments: [
            ([], nil), (["0 0"], false), (["1 0"], true), (["0 1"], true), (["0 0", "0 1"], true),
            (["0 0", "0 0"], false),
        ] as [([String], Bool?)]
    )
    func radioSwitches(switches: [String], isBlocked: Bool?) throws {
        try self.interface("wlan0", index: 3, uevent: "DEVTYPE=wlan\n")
        try self.sysfs.makeDirectory("devices/phy0/power")
        for (number, text) in switches.enumerated() {
            try self.sysfs.write("devices/phy0/rfkill\(number)/soft", "\(text.prefix(1))\n")
            try self.sysfs.write("devices/phy0/rfkill\(number)/hard", "\(text.suffix(1))\n")
        }
        try self.sysfs.link("class/net/wlan0/phy80211", to: "../../../devices/phy0")
        let expected = InterfaceHints(deviceType: "wlan", isWireless: true, isRadioBlocked: isBlocked)
        #expect(self.read("wlan0", 3) == expected)
    }
}
