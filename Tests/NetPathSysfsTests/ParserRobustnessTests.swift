// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

@testable import NetPathSysfs

/// Whatever the files contain, the parsers end, and neither read past the end nor overflow: both would trap.
@Suite struct ParserRobustnessTests {
    private static let samples = [
        ProcTexts.route, ProcTexts.other + ProcTexts.main + ProcTexts.local, ProcTexts.ifInet6, ProcTexts.dev, "17\n",
        "02:00:5e:10:00:01\n", "DEVTYPE=wlan\n", "lowerlayerdown\n",
    ]

    private func parse(_ octets: [UInt8], isComplete: Bool = true) {
        let text = octets.span
        _ = RouteTable(ipv4: text, isComplete: isComplete, covering: internet)
        _ = RouteTable(ipv6: text, isComplete: isComplete, covering: internet)
        _ = IPv6Line.parse(text, isComplete: isComplete)
        _ = DeviceList.parse(text, isComplete: isComplete)
        _ = Attribute.number(text)
        _ = Attribute.word(text)
        _ = Attribute.operationalState(text)
        _ = Attribute.hardwareAddress(text)
        _ = Attribute.deviceType(text)
    }

    @Test func everyBeginningOfEverySample() {
        for sample in Self.samples {
            let octets = Array(sample.utf8)
            for count in 0...octets.count { self.parse(Array(octets.prefix(count)), isComplete: count % 2 == 0) }
        }
    }

    @Test(arguments: 0..<8)
    func randomOctets(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let count = Int.random(in: 0..<400, using: &generator)
            self.parse((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
    }

    @Test(arguments: 0..<8)
    func spoiledSamples(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            var octets = Array(try #require(Self.samples.randomElement(using: &generator)).utf8)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let position = Int.random(in: octets.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: octets[position] = UInt8.random(in: 0...255, using: &generator)
                case 1: octets.insert(UInt8(ascii: "f"), at: position)
                default: octets.removeSubrange(position..<min(position + 9, octets.count))
                }
                if octets.isEmpty { octets = [10] }
            }
            self.parse(octets)
        }
    }
}
