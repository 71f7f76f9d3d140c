// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// `for await path in monitor`.
@Suite(.needsNamespaces)
struct IterationTests {
    @Test func startsTheMonitorAndEndsWithCancel() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("iterate", in: lab)
        let (_, first) = try scenario.lines(until: "path")
        #expect(first.status == "satisfied")
        #expect(first["isCurrent"]?.bool == true)
        try wan.setDown()
        #expect(try scenario.finish().last?.status == "unsatisfied")
    }

    @Test func iteratorsAreIndependent() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("iterate-from", in: lab)
        _ = try scenario.lines(until: "quick")
        try lab.ip("route replace default via 192.0.2.9")
        _ = try scenario.lines(until: "quick")
        try wan.setDown()
        try scenario.finish()
    }

    @Test func leavingTheLoopEarlyLeavesNothingBehind() throws {
        let lines = try Scenario("one-shot", in: NetworkNamespace.online().lab).finish()
        #expect(lines.map(\.status) == ["satisfied"])
    }
}
