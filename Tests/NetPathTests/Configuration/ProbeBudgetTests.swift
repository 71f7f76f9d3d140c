// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

/// Budgets of a probe that are legal, and too small for what else is configured.
@Suite struct ProbeBudgetTests {
    private func warnings(_ options: String, targets: String = "\"192.0.2.1:1\"") throws -> [String] {
        let text = "backends:\n  - type: tcpProbe\n    targets: [\(targets)]\n\(options)"
        let source = ConfigurationSource(name: "t", text: text)
        return try LoadedConfiguration.parse(source).warnings.map { String($0.description.prefix { $0 != "\n" }) }
    }

    private static let consequence = "so that 'internet' is late or unknown"

    @Test func tooSmallForTheInterval() throws {
        #expect(
            try self.warnings("    interval: 1s\n    maxPerMinute: 2\n") == [
                "t:5:19: warning: 'backends[0].maxPerMinute' is too small for rounds every 1s whose outcomes count "
                    + "for 3s, \(Self.consequence); write maxPerMinute: 60 or more, or interval: 30s or more, found '2'"
            ]
        )
        // What was not written cannot be pointed at.
        #expect(
            try self.warnings("    interval: 1s\n", targets: "\"a.example:1\"") == [
                "t:4:15: warning: 'backends[0].interval' makes maxPerMinute (60) too small for rounds every 1s whose "
                    + "outcomes count for 3s, \(Self.consequence); write maxPerMinute: 120 or more, "
                    + "or interval: 2s or more, found '1s'"
            ]
        )
    }

    @Test func lessThanARound() throws {
        #expect(
            try self.warnings("    maxPerMinute: 4\n", targets: "\"a.example:1\", \"b.example:1\", \"A.example:2\"")
                == [
                    "t:4:19: warning: 'backends[0].maxPerMinute' is less than the 8 attempts (lookups and connections) of a "
                        + "round without any answer, \(Self.consequence); write maxPerMinute: 8 or more, found '4'"
                ]
        )
    }

    @Test func tooSmallForTheTimeOutcomesCount() throws {
        let warnings = try self.warnings(
            "    interval: 30s\n    validFor: 10s\n    maxPerMinute: 10\n",
            targets: "\"a.example:1\""
        )
        #expect(warnings.count == 1 && warnings.first?.contains("write maxPerMinute: 18 or more, found '10'") == true)
    }

    @Test(arguments: [
        "", "    maxPerMinute: 2\n", "    interval: 10s\n    maxPerMinute: 6\n", "    interval: 1s\n",
        "    interval: 30s\n    maxPerMinute: 2\n",
    ])
    func enough(options: String) throws {
        #expect(try self.warnings(options) == [])
    }

    /// What is advised is enough.
    @Test(arguments: 1...60, [2, 7, 60]) func theRemedyIsOne(interval: Int, limit: Int) throws {
        for targets in ["\"192.0.2.1:1\"", "\"a.example:1\"", "\"a.example:1\", \"[::1]:1\", \"b.example:1\""] {
            func warning(_ interval: Substring, _ limit: Substring) throws -> String? {
                try self.warnings("    interval: \(interval)\n    maxPerMinute: \(limit)\n", targets: targets).first
            }
            guard let text = try warning("\(interval)s", "\(limit)") else { continue }
            let greater = try #require(text.firstMatch(of: /write maxPerMinute: (\d+) or more/))
            #expect(try warning("\(interval)s", greater.1) == nil)
            if let longer = text.firstMatch(of: /or interval: (\w+) or more/) {
                #expect(try warning(longer.1, "\(limit)") == nil, "\(text)")
            }
        }
    }

    private func roundWarnings(_ options: String) throws -> [String] {
        let text = "backends:\n  - type: httpProbe\n    checks: [{url: \"http://a.example/\"}]\n\(options)"
        let source = ConfigurationSource(name: "t", text: text)
        return try LoadedConfiguration.parse(source).warnings.map { String($0.description.prefix { $0 != "\n" }) }
    }

    @Test func tooFewRoundsForTheInterval() throws {
        let consequence = "of which some are kept for changes of the network: rounds begin every 10s"
        #expect(
            try self.roundWarnings("    interval: 1s\n") == [
                "t:4:15: warning: 'backends[0].interval' is too short for maxRoundsPerMinute (12), \(consequence); "
                    + "write maxRoundsPerMinute: 66 or more, or interval: 10s or more, found '1s'"
            ]
        )
        #expect(
            try self.roundWarnings("    interval: 9s\n    maxRoundsPerMinute: 12\n") == [
                "t:5:25: warning: 'backends[0].maxRoundsPerMinute' is too small, \(consequence); "
                    + "write maxRoundsPerMinute: 13 or more, or interval: 10s or more, found '12'"
            ]
        )
        for enough in ["", "    interval: 10s\n", "    interval: 1s\n    maxRoundsPerMinute: 66\n"] {
            #expect(try self.roundWarnings(enough) == [])
        }
    }
}
