// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

@testable import NetPathCLI

/// Metrics as text, and what else goes over the service's socket for a server.
struct MetricsTests {
    private func text(isOpenMetrics: Bool) -> String {
        var text = MetricsText(isOpenMetrics: isOpenMetrics)
        text.counter("things", "Things.", [.init(3, ["name": "a\"b\\c\nd\u{1B}[2J\u{202E}"])])
        text.gauge("nothing", "Nothing.", [])
        var times = TimeHistogram(bounds: [1_000_000, 1_000_000_000])
        for time in [Duration.microseconds(500), .milliseconds(1), .milliseconds(2), .seconds(5)] { times.add(time) }
        text.histogram("took_seconds", "How long.", [([:], times)])
        text.gauge("state", "The state.", MetricsText.Sample.states("state", ["on", "off"], current: "off"))
        return text.text
    }

    @Test func familiesAreWritten() {
        #expect(
            self.text(isOpenMetrics: false) == """
                # HELP things_total Things.
                # TYPE things_total counter
                things_total{name="a\\"b\\\\c\\\\u{A}d\\\\u{1B}[2J\\\\u{202E}"} 3
                # HELP took_seconds How long.
                # TYPE took_seconds histogram
                took_seconds_bucket{le="0.001"} 2
                took_seconds_bucket{le="1.0"} 3
                took_seconds_bucket{le="+Inf"} 4
                took_seconds_sum 5.0035
                took_seconds_count 4
                # HELP state The state.
                # TYPE state gauge
                state{state="on"} 0
                state{state="off"} 1

                """
        )
    }

    @Test func openMetricsNamesCountersWithoutTheirEnd() {
        let text = self.text(isOpenMetrics: true)
        #expect(text.contains("# TYPE things counter\nthings_total{"))
    }

    /// Of a counter that appears when it is 1, `increase()` sees nothing.
    @Test func countersAreThereFromTheStart() throws {
        let text = """
            backends:
              - {type: tcpProbe, targets: ['192.0.2.7:443']}
              - {type: httpProbe, portalAPI: 'https://example.net/api', checks: [{url: 'http://example.net/204?token=1'}]}
            """
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        let targets = ["192.0.2.7:443", "http://example.net/204", "https://example.net/api"]
        #expect(configuration.probeTargets.sorted() == targets)
        let coordinator = PathCoordinator(backends: [])
        coordinator.keepTally()
        let bytes = coordinator.metrics(isOpenMetrics: false, targets: configuration.probeTargets)
        let lines = Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
        for reason in ["noCarrier", "noRoute", "gatewaySilent", "captivePortal"] {
            #expect(lines.contains("netpath_down_seconds_total{reason=\"\(reason)\"} 0.0"))
        }
        for (target, result) in targets.flatMap({ target in
            ["refused", "timedOut", "notResolved", "portal"].map { (target, $0) }
        }) {
            #expect(lines.contains("netpath_probe_results_total{target=\"\(target)\",result=\"\(result)\"} 0"))
        }
    }

    @Test func aRefusedConfigurationIsCountedAndTold() throws {
        func mistake(_ origin: String, _ text: String) throws -> ConfigurationError {
            try #require(throws: ConfigurationError.self) {
                _ = try LoadedConfiguration.parse(ConfigurationSource(name: origin, text: text))
            }
        }
        func text(_ standing: ConfigurationStanding) -> String {
            var text = MetricsText(isOpenMetrics: false)
            text.add(standing)
            return text.text
        }
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: "grace: 1s"))
        let start = ConfigurationStanding(configuration, at: WallTime(nanoseconds: 0))
        #expect(text(start).contains("netpath_configuration_refusals_total 0\n"))
        #expect(!text(start).contains("error_info"))
        var (here, there, other) = (start, start, start)
        here.refuse(try mistake("/etc/a.yaml", "grace: SECRET1"))
        there.refuse(try mistake("/etc/b.yaml", "grace: SECRET2"))
        other.refuse(try mistake("/etc/a.yaml", "# \n\ngrace: SECRET1"))
        #expect(text(here).contains("netpath_configuration_refusals_total 1\n"))
        #expect(text(here).contains("netpath_configuration_error_info{hash=\""))
        #expect(here.errorHash == there.errorHash && here.errorHash != other.errorHash)
        #expect(!text(here).contains("SECRET"))
    }

    @Test func questionsAreRead() {
        let questions: [ServiceRequest] = [
            .metrics(isOpenMetrics: false), .metrics(isOpenMetrics: true), .details, .history(since: -9_223_372_036),
        ]
        for question in questions { #expect(ServiceRequest(Array(question.line.utf8)[...]) == question) }
        // 64 bits do not hold its nanoseconds.
        #expect(ServiceRequest(Array(ServiceRequest.history(since: 9_223_372_037).line.utf8)[...]) == .unknown)
    }

    @Test func onlyThePathIsMarkedStale() {
        let line = Array(#"{"reason":{"message":"\"stale\":false"},"stale":false,"x":{"stale":false}}"#.utf8)
        let marked = String(decoding: ServiceFollower.stale(line), as: UTF8.self)
        #expect(marked == #"{"reason":{"message":"\"stale\":false"},"stale":true,"x":{"stale":false}}"#)
        #expect(ServiceFollower.stale([]) == [])
        #expect(ServiceFollower.stale(Array("{}".utf8)) == Array("{}".utf8))
    }

    @Test func answersOfOlderServicesAreNone() {
        #expect(ServiceFollower.text(in: Array(#"{"text":"a\nb"}"#.utf8)) == Array("a\nb".utf8))
        #expect(ServiceFollower.text(in: Array(#"{"error":"ask with one of"}"#.utf8)) == nil)
        #expect(ServiceFollower.text(in: nil) == nil)
    }
}
