// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathConfiguration
import NetPathSystem
import Reachability
import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import NetPathRecording

/// The document and the writer name the same keys, in the same order.
@Suite struct JSONDocumentationTests {
    /// The names in the tables of JSON.md, by heading.
    private static func documented() throws -> [String: [String]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/NetPath/NetPath.docc/JSON.md")
        var names: [String: [String]] = [:]
        var heading = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
            if line.hasPrefix("| `"), let name = line.dropFirst(3).split(separator: "`").first {
                names[heading, default: []].append(String(name))
            }
        }
        return names
    }

    @Test func sameKeys() throws {
        let path = try #require(Fixtures.snapshot(Fixtures.routed).path)
        let explained = ExplainedPath(snapshot: Fixtures.unknown)
        let inventory = BackendInventory(origin: "", types: [], entries: [], takenAt: Fixtures.clock)
        let diagnostic = ConfigurationDiagnostic(origin: "f", message: "m")
        let check = JSONNode.configurationCheck(origin: "f", error: ConfigurationError(diagnostic))
        guard case .array(let errors) = check.members.first(where: { $0.key == "errors" })?.value else {
            Issue.record("no errors in \(check.line)")
            return
        }
        let embedded = ConfigurationSource(name: "f", text: LoadedConfiguration.defaultText)
        let effective = JSONNode.effective(try LoadedConfiguration.parse(embedded))
        guard case .array(let values) = effective.members.first(where: { $0.key == "values" })?.value else {
            Issue.record("no values in \(effective.line)")
            return
        }
        let reason = PathReason(.noRoute, "")
        var recorder = ComparisonRecorder(configured: [])
        let lost = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        let snapshots = [Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(lost, by: "other")]
        let comparison = recorder.record(snapshots, path: path, at: Fixtures.clock)
        let column = try #require(comparison.columns.first)
        let backendKeys = JSONNode.backend(column.report, at: Fixtures.clock).members.count
        let additions = column.document(at: Fixtures.clock).members.dropFirst(backendKeys)
        let summary = recorder.tally.document(since: Fixtures.now, at: Fixtures.clock)
        guard case .array(let differences) = comparison.document["differences"],
            case .array(let tallies) = summary["summary"]
        else {
            Issue.record("no differences in \(comparison.document.line), or no backends in \(summary.line)")
            return
        }
        let interface = try #require(path.interfaces.first)
        let gateway = try #require(path.gateways.first)
        let probe = ProbeOutcome(target: "", result: .timedOut)
        let wait = WaitReport(
            terms: WaitMachine.Terms(conditions: WaitConditions(list: [.dns])),
            outcome: .timedOut,
            view: WaitView(),
            waited: .zero,
            takenAt: Fixtures.clock
        )
        let history = ShownHistory(periods: [], begin: Fixtures.clock.wall, end: Fixtures.clock.wall)
        let availability = try #require(history.document.members.first { $0.key == "availability" }?.value)
        let written: [String: JSONNode] = [
            "Path": Fixtures.snapshot(Fixtures.routed).document,
            "Reason": .reason(reason),
            "Interface": .interface(interface),
            "Label": JSONNode.written { $0.label(InterfaceLabel(by: "", "")) },
            "Gateway": .gateway(gateway),
            "Name server": JSONNode.written { $0.nameServer(DNSServer(Fixtures.address("192.0.2.53"))) },
            "Probe": .probe(probe),
            "Backend": .backend(Fixtures.report(health: .healthy), at: Fixtures.clock),
            "Disagreement": .disagreement(Disagreement(backend: "", status: .satisfied, reason: reason)),
            "Explanation": explained.document,
            "Backends": inventory.document,
            "Configuration": effective,
            "Configuration value": try #require(values.first),
            "Configuration check": check,
            "Configuration error": try #require(errors.first),
            "Comparison": comparison.document,
            // The first row stands for all those of Backend.
            "Compared backend": .object([(key: "name", value: .null)] + additions),
            "Difference": try #require(differences.first),
            "Comparison summary": summary,
            "Backend tally": try #require(tallies.first),
            "Host": try Fixtures.host().document,
            "Host route": .hostRoute(try #require(Fixtures.host().status.route)),
            "Hook": HookReportTests.report.document,
            "Run of a hook": try #require(HookReportTests.report.runs.first).document,
            "Wait": wait.document,
            "Waited condition": wait.document(of: .dns),
            "History": history.document,
            "Availability": availability,
            "Downtime": ShownHistory.document(Availability.Downtime()),
            "Period": ShownHistory.document(PathHistory.Period(begin: 0, end: 0, content: .unknown(""))),
            "Report": Report(masking: nil).document(file: "", isWritten: false),
            "Version": BuildFacts.netpath.document,
        ]
        let documented = try Self.documented()
        #expect(Set(documented.keys) == Set(written.keys))
        for (heading, value) in written {
            #expect(documented[heading] == value.members.map(\.key), "\(heading)")
        }
        // Every key is always present.
        #expect(Fixtures.unknown.document.members.map(\.key) == documented["Path"])
    }
}
