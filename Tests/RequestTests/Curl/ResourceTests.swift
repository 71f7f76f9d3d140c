// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import NetPathTestKit
import Testing

/// What the transport uses, in a process of its own.
@Suite struct ResourceTests {
    /// A file of 256 MB, all holes.
    private static let size = 256 << 20

    /// What a process has resident that has sent one small request, in KiB.
    private func floor(_ lab: LabHost) throws -> Double {
        try #require(try Scenario.run(["get", lab.url("/ok")])["peakKiB"]?.number)
    }

    @Test(.timeLimit(.minutes(5))) func aLargeUploadNeedsNoMoreMemory() async throws {
        let lab = try LabHost()
        let directory = try TemporaryDirectory()
        try directory.write("body", "")
        try FileHandle(forWritingTo: URL(filePath: directory["body"])).truncate(atOffset: UInt64(Self.size))
        let line = try Scenario.run(["upload", directory["body"], lab.url("/ok")])
        #expect(line["status"] == 200)
        #expect(try await lab.events(on: "/ok").last?["length"]?.number == Double(Self.size))
        let peak = try #require(line["peakKiB"]?.number)
        #expect(try peak < self.floor(lab) + 4096, "KiB")
    }

    @Test(.timeLimit(.minutes(5))) func aLargeDownloadNeedsNoMoreMemory() throws {
        let lab = try LabHost()
        let directory = try TemporaryDirectory()
        let line = try Scenario.run(["download", lab.url("/bytes?n=\(Self.size)"), directory["answer"]])
        #expect(line["status"] == 200)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory["answer"])
        #expect(attributes[.size] as? Int == Self.size)
        let peak = try #require(line["peakKiB"]?.number)
        #expect(try peak < self.floor(lab) + 4096, "KiB")
    }

    @Test(.timeLimit(.minutes(5))) func tenThousandRequestsLeaveNothingBehind() throws {
        let lab = try LabHost()
        let scenario = try Scenario(["many", "10000", lab.url("/ok")])
        let early = try scenario.nextLine()
        let late = try scenario.nextLine()
        #expect(late["status"] == 200)
        #expect(late["descriptors"] == early["descriptors"])
        let growth = try #require(late["residentKiB"]?.number) - #require(early["residentKiB"]?.number)
        #expect(growth < 512, "KiB over 9,000 requests")
    }

    @Test func anIdleTransportSleeps() async throws {
        let lab = try LabHost()
        let scenario = try Scenario(["idle", lab.url("/ok")])
        _ = try scenario.nextLine()
        // The threads that are on their way to sleep; then nothing, for as long as anybody cares to look.
        try await Task.sleep(for: .milliseconds(500))
        var (before, after) = (0, scenario.contextSwitches)
        // A busy machine lets them get there later.
        for _ in 0..<10 where before != after {
            before = scenario.contextSwitches
            try await Task.sleep(for: .seconds(3))
            after = scenario.contextSwitches
        }
        #expect(after == before)
    }
}
