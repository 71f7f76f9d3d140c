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

    private func parse(_ bytes: [UInt8], isComplete: Bool = true) {
        let text = bytes.span
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
            let bytes = Array(sample.utf8)
            for count in 0...bytes.count { self.parse(Array(bytes.prefix(count)), isComplete: count % 2 == 0) }
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
            var bytes = Array(try #require(Self.samples.randomElement(using: &generator)).utf8)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let position = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.insert(UInt8(ascii: "f"), at: position)
                default: bytes.removeSubrange(position..<min(position + 9, bytes.count))
                }
                if bytes.isEmpty { bytes = [10] }
            }
            self.parse(bytes)
        }
    }
}
