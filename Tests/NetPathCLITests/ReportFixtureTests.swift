// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathConfiguration
import NetPathRecording
import Testing

@testable import NetPath
@testable import NetPathCLI

/// The reports of `Tests/Fixtures/Reports` replay to what they have to.
///
/// A report of a user is dropped there as `NAME.txt`. What has to be said of it stands in `NAME.expected`, a state a line; without
/// that file it is what was said when the report was made. `NETPATH_UPDATE_REPORTS=1` writes these files anew, to be read
/// before they are committed.
@Suite struct ReportFixtureTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Fixtures/Reports").standardizedFileURL

    private static let reports: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
    }()

    @Test func thereAreReports() {
        #expect(!Self.reports.isEmpty)
    }

    @Test(arguments: reports)
    func replays(name: String) throws {
        let recording = try Recording(Self.folder.appending(path: "\(name).txt").path())
        var player = RecordingPlayer(overrides: [], registry: .builtIn)
        var states: [String] = []
        let damaged = try recording.read { event in
            for path in try player.take(event) {
                let state = Self.state(of: path)
                if states.last != state { states.append(state) }
            }
            return true
        }
        #expect(damaged == 0)
        #expect(player.hasBegun && !states.isEmpty)
        let file = Self.folder.appending(path: "\(name).expected")
        if ProcessInfo.processInfo.environment["NETPATH_UPDATE_REPORTS"] != nil {
            try states.map { $0 + "\n" }.joined().write(to: file, atomically: true, encoding: .utf8)
        }
        guard let expected = try? String(contentsOf: file, encoding: .utf8) else {
            #expect(player.differences == 0, "\(name) does not replay to what was published")
            return
        }
        #expect(states == expected.split(separator: "\n").map(String.init), "\(name)")
    }

    /// Status, reason and what carries the path: what a change of the rules has to leave as it is.
    private static func state(of path: NetworkPath) -> String {
        var words = ["\(path.status)", path.reason.code.rawValue]
        if path.status == .satisfied, let interface = path.interfaces.first {
            words += ["\(interface.type)", interface.name]
        }
        if let carrier = path.carriedByIndex { words += ["over", "\(carrier)"] }
        return words.joined(separator: " ")
    }
}
