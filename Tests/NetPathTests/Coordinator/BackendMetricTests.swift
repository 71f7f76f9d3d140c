// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

@testable import NetPath

/// The numbers that backends give have limits, and belong to their run.
@Suite struct BackendMetricTests {
    private func metric(_ name: String, _ samples: BackendMetric.Sample...) -> BackendMetric {
        BackendMetric(name, "Help.", samples: samples)
    }

    @Test func whatCanBeExportedIsKept() {
        let samples = [BackendMetric.Sample(-61, ["interface": "wlan0"]), .init(-70, ["interface": "wlan1"])]
        let metrics = [BackendMetric("signal_dbm", "Help.", samples: samples)]
        let (kept, complaint) = BackendMetric.accepted(metrics)
        #expect(kept == metrics && complaint == nil)
    }

    @Test(arguments: ["", "Signal", "1st", "a-b", "sent_total", "näme", String(repeating: "a", count: 65)])
    func aNameIsOfSnakeCase(name: String) {
        let (kept, complaint) = BackendMetric.accepted([self.metric(name, .init(1)), self.metric("good", .init(1))])
        #expect(kept.map(\.name) == ["good"])
        #expect(complaint?.contains("snake_case") == true)
    }

    @Test(arguments: [
        BackendMetric.Sample(.nan), .init(.infinity), .init(1, ["backend": "a"]), .init(1, ["le": "1"]),
        .init(1, ["__name__": "a"]), .init(1, Dictionary(uniqueKeysWithValues: (0..<9).map { ("l\($0)", "") })),
    ])
    func aSampleHasAFiniteNumberAndLabelsThatCanBe(sample: BackendMetric.Sample) {
        let (kept, complaint) = BackendMetric.accepted([self.metric("good", sample, .init(1))])
        #expect(kept == [self.metric("good", .init(1))])
        #expect(complaint != nil)
    }

    @Test func whatIsTooMuchIsLeftOut() {
        let families = (0..<40).map { self.metric("m\($0)", .init(1)) }
        #expect(BackendMetric.accepted(families).metrics.count == BackendMetric.familyLimit)
        #expect(BackendMetric.accepted(families).complaint?.contains("32") == true)
        let samples = (0..<300).map { BackendMetric.Sample(1, ["n": "\($0)"]) }
        let many = [BackendMetric("a", "", samples: samples), self.metric("b", .init(1))]
        let (kept, complaint) = BackendMetric.accepted(many)
        #expect(kept.map(\.samples.count) == [BackendMetric.sampleLimit])
        #expect(complaint?.contains("256") == true)
        let long = String(repeating: "x", count: 1_000)
        let short = BackendMetric.accepted([self.metric("a", .init(1, ["n": long]), .init(2, ["n": long + "y"]))])
        #expect(short.metrics.first?.samples.count == 1, "the same labels twice would be no metrics")
    }

    @Test func theyBelongToTheirRun() async throws {
        let messages = AwaitableState<[String]>([])
        let giver = Giver(metrics: [self.metric("signal_dbm", .init(-61)), self.metric("Wrong", .init(1))])
        let coordinator = PathCoordinator(
            backends: [Backend("wpa", monitor: giver)],
            clock: ManualClock(),
            log: { _, message in messages.update { $0.append(message) } }
        )
        coordinator.start()
        _ = await coordinator.paths().first { _ in true }
        #expect(coordinator.backendMetrics.map(\.backend) == ["wpa"])
        #expect(coordinator.backendMetrics.first?.metrics.map(\.name) == ["signal_dbm"])
        #expect(messages.value.filter { $0.contains("'Wrong'") }.count == 1, "said once, though given twice")
        coordinator.apply(backends: [], settings: CoordinatorSettings(), keeping: [])
        #expect(coordinator.backendMetrics.isEmpty)
        coordinator.stop()
    }

    private struct Giver: PathMonitor {
        let metrics: [BackendMetric]

        func run(_ context: MonitorContext) async throws {
            context.reportMetrics(self.metrics)
            context.reportMetrics(self.metrics)
            context.report(.through("eth0"))
            for await _ in context.refreshRequests {}
        }
    }
}
