// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// The units of the system: each is confined, as a user of its own, with limits.
@Suite struct SystemdUnitTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Config/systemd").standardized.path
    private static let units = ["netpath.service", "netpath-serve.service", "netpath-wait-online.service"]

    private func text(_ unit: String) throws -> String {
        try String(contentsOfFile: "\(Self.folder)/\(unit)", encoding: .utf8)
    }

    @Test func theseAreAll() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".service") }
        #expect(names.sorted() == Self.units.sorted())
    }

    @Test(arguments: units)
    func eachHasAUserAndLimits(unit: String) throws {
        let lines = try self.text(unit).split(separator: "\n").map(String.init)
        let user = lines.filter { $0.hasPrefix("User=") || $0 == "DynamicUser=yes" }
        #expect(user.count == 1 && user != ["User=root"])
        for key in ["MemoryMax=", "TasksMax=", "NoNewPrivileges=yes", "CapabilityBoundingSet="] {
            #expect(lines.contains { $0.hasPrefix(key) && !$0.hasSuffix("infinity") }, "\(key)")
        }
        // No two share one.
        for other in Self.units where other != unit && user != ["DynamicUser=yes"] {
            #expect(try !self.text(other).contains(user[0] + "\n"))
        }
    }

    @Test(
        .enabled(if: ProgramOutput("systemd-analyze", ["--version"]) != nil, "needs systemd-analyze"),
        arguments: units
    )
    func exposureIsAtMost2(unit: String) throws {
        let arguments = ["security", "--offline=yes", "--no-pager", "--threshold=20", "\(Self.folder)/\(unit)"]
        let output = try #require(ProgramOutput("systemd-analyze", arguments))
        let text = String(decoding: output.bytes, as: UTF8.self)
        #expect(output.failure == nil && text.contains("Overall exposure level"), "\(output.failure ?? "") \(text)")
    }
}
