// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import NetPath

/// The truth tables in Merging.md are what `merge` does.
@Suite struct MergingDocumentationTests {
    private static func status(_ statuses: [PathStatus], _ policy: MergePolicy) -> String {
        let snapshots = statuses.map { status in
            let report = BackendReport(
                name: "b",
                mode: .active,
                health: .healthy,
                limitations: [],
                restarts: 0,
                resynchronizations: 0
            )
            let verdict = Verdict(status, PathReason(.routed, ""))
            return BackendSnapshot(report: report, evidence: .noLink, verdict: verdict)
        }
        return NetworkPath.merging(snapshots, policy: policy)?.status.rawValue ?? "nil"
    }

    private static func row(_ statuses: [PathStatus], _ policies: [MergePolicy]) -> String {
        let cells = statuses.map(\.rawValue) + policies.map { Self.status(statuses, $0) }
        return "| \(cells.joined(separator: " | ")) |"
    }

    @Test func truthTables() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/NetPath/NetPath.docc/Merging.md")
        let documented = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { line in PathStatus.allCases.contains { line.hasPrefix("| \($0.rawValue) |") } }
        let all = PathStatus.allCases
        let pairs = all.flatMap { first in all.map { Self.row([first, $0], MergePolicy.allCases) } }
        let triples = all.flatMap { one in
            all.filter { $0 >= one }.flatMap { another in
                all.filter { $0 >= another }.map { Self.row([one, another, $0], [.unanimous, .any, .majority]) }
            }
        }
        #expect(documented == pairs + triples)
    }
}
