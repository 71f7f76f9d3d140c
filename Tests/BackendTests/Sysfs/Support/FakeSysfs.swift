// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPath

@testable import NetPathSysfs

/// A folder that stands for sysfs, with the interfaces a test writes into it.
final class FakeSysfs {
    let root: String

    init() throws {
        self.root = NSTemporaryDirectory() + "netpath-sysfs-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: "\(self.root)/class/net", withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.root)
    }

    /// Writes an interface with what a network card has, and the given changes; nil leaves a file out.
    func add(_ name: String, _ index: Int, _ changes: [String: String?] = [:]) throws {
        var files: [String: String?] = [
            "ifindex": "\(index)\n", "iflink": "\(index)\n", "operstate": "up\n", "carrier": "1\n",
            "carrier_up_count": "1\n", "address": "02:00:00:00:00:0\(index % 10)\n", "uevent": "INTERFACE=\(name)\n",
        ]
        files.merge(changes) { $1 }
        let folder = self.path(name)
        try FileManager.default.createDirectory(atPath: "\(folder)/device", withIntermediateDirectories: true)
        for case (let file, let text?) in files {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(file)"))
        }
    }

    func path(_ name: String) -> String { "\(self.root)/class/net/\(name)" }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self.path(name)) }

    func makeFIFO(_ name: String) throws {
        try? FileManager.default.removeItem(atPath: self.path(name))
        guard unsafe mkfifo(self.path(name), 0o600) == 0 else { throw SysfsError("mkfifo", number: errno) }
    }
}

/// A namespace with the interfaces a test gives it.
final class FakeQueries: InterfaceQuerying {
    struct Card {
        var index: UInt32
        var flags: UInt32 = 0x1043
        var hasLink: Bool? = true
    }

    var cards: [String: Card] = [:]
    /// What a program is told that connects to where a route refuses packets.
    var refusal = RouteLookupResult.unknown
    /// Called before each question: the world changes while somebody looks at it.
    var onQuestion: (String) -> Void = { _ in }

    init(_ indices: [String: UInt32]) {
        self.cards = indices.mapValues { Card(index: $0) }
    }

    private func card(_ name: String) -> Card? {
        self.onQuestion(name)
        return self.cards[name]
    }

    func index(of name: String) -> UInt32? { self.card(name)?.index }
    func flags(of name: String) -> UInt32? { self.card(name)?.flags }
    func hardware(of name: String) -> (type: UInt16, address: [UInt8])? {
        self.card(name).map { card in
            (1, [2, 0, 0, 0, 0, UInt8(card.index % 10)] + [UInt8](repeating: 0, count: 8))
        }
    }
    func driver(of name: String) -> String? { "e1000" }
    func hasLink(_ name: String) -> Bool? { self.card(name)?.hasLink }
    func ipv4Addresses() -> [(label: String, address: UInt32)]? { [] }
    func ipv4Mask(label: String, address: UInt32) -> UInt32? { nil }
    func refusal(of destination: InternetAddress) -> RouteLookupResult { self.refusal }
}
