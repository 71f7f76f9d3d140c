// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// When, where and how often `pathUpdateHandler` is called.
@Suite(.needsNamespaces)
struct HandlerTests {
    @Test func firstCallComesWithoutRunLoopAndWithoutChange() throws {
        let (lab, _) = try NetworkNamespace.online()
        let online = try Scenario("watch", in: lab).next("path")
        #expect(online.status == "satisfied")
        #expect(online["isCurrent"]?.bool == true)

        let offline = try Scenario("watch", in: NetworkNamespace()).next("path")
        #expect(offline.status == "unsatisfied")
        #expect(offline.strings("available").isEmpty)
    }

    @Test func callsAreSerialAndInOrderOnAConcurrentQueue() throws {
        let (lab, _) = try NetworkNamespace.online()
        let scenario = try Scenario("concurrent", in: lab)
        try scenario.next("path")
        var lines: [JSONLine] = []
        for host in 10..<40 {
            try lab.ip("route replace default via 192.0.2.\(host)")
            // On a busy machine the monitor may see only the last of those that the test does not wait for.
            guard host % 5 == 4 else { continue }
            let (before, last) = try scenario.lines(until: "path") { $0.strings("gateways") == ["192.0.2.\(host):0"] }
            lines += before + [last]
        }
        #expect(lines.allSatisfy { $0["others"]?.number == 0 })
        let hosts = lines.flatMap { $0.strings("gateways") }.compactMap { text in
            text.split(separator: ":").first?.split(separator: ".").last.flatMap { Int($0) }
        }
        #expect(hosts.count > 5)
        #expect(hosts == hosts.sorted())
        #expect(Set(hosts).count == hosts.count)
    }

    @Test func nothingFollowsCancelInsideTheHandler() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("cancel-inside", in: lab)
        var events: [String] = []
        func wait(for event: String, _ status: String) throws {
            let (before, last) = try scenario.lines(until: event) { $0.status == status }
            events += (before + [last]).compactMap { $0["event"]?.string }
        }
        try wait(for: "witness", "satisfied")
        // The two monitors call on different queues.
        if !events.contains("path") { try wait(for: "path", "satisfied") }
        try wan.setDown()
        try wait(for: "witness", "unsatisfied")
        try wan.setUp()
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        try wait(for: "witness", "satisfied")
        #expect(events.count { $0 == "path" } == 1)
    }

    @Test func handlerIsReplacedAndRemovedInsideItself() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("replace", in: lab)
        var events: [String] = []
        func settle(_ text: String, _ event: String) throws {
            let (before, last) = try scenario.lines(until: "witness") { $0.pathText.hasPrefix(text) }
            events += (before + [last]).compactMap { $0["event"]?.string }
            // The two monitors call on different queues.
            if !event.isEmpty, !events.contains(event) {
                try events.append(scenario.lines(until: event).last["event"]?.string ?? "")
            }
        }
        try settle("satisfied", "first")
        try wan.setDown()
        try settle("unsatisfied", "second")
        try wan.setUp()
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        try settle("satisfied", "")
        #expect(events.filter { $0 != "witness" } == ["first", "second"])
    }

    @Test func lateHandlerGetsTheLatestPath() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("late", in: lab)
        #expect(try scenario.lines(until: "path").last.status == "satisfied")
        try wan.setDown()
        #expect(try scenario.lines(until: "path").last.status == "unsatisfied")
    }

    @Test func startedMonitorLivesUntilCancelled() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("alive", in: lab)
        #expect(try scenario.next("path")["alive"]?.bool == true)
        try wan.setDown()
        #expect(try scenario.next("path")["alive"]?.bool == true)
        try scenario.finish()
    }

    @Test func lifecycle() throws {
        try Scenario("lifecycle", in: NetworkNamespace.online().lab).finish()
    }

    @Test func currentPathIsThereBeforeTheStart() throws {
        let lines = try Scenario("snapshot", in: NetworkNamespace.online().lab).finish()
        #expect(lines.map(\.status) == ["satisfied", "unsatisfied"])
    }

    @Test func everythingFromEveryThread() throws {
        let (lab, wan) = try NetworkNamespace.online()
        let scenario = try Scenario("threads", in: lab)
        _ = try scenario.lines(until: "ready")
        for host in 10..<50 { try lab.ip("route replace default via 192.0.2.\(host)") }
        try wan.setDown()
        try scenario.finish()
    }
}
