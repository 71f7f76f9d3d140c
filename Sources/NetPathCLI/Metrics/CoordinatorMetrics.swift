// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem

extension PathCoordinator {
    /// What there is to tell of the network and of who watches it, as families of metrics.
    ///
    /// - Parameters:
    ///   - isOpenMetrics: Which of the two formats.
    ///   - targets: The targets of probes that the configuration names, of which there may be no result yet.
    ///   - more: Adds what the program tells of itself.
    /// - Returns: The families.
    func metrics(
        isOpenMetrics: Bool,
        targets: [String] = [],
        adding more: (inout MetricsText) -> Void = { _ in }
    ) -> [UInt8] {
        let path = self.path
        let reports = path?.backends ?? self.snapshots.map(\.report)
        var text = MetricsText(isOpenMetrics: isOpenMetrics)
        text.gauge("netpath_up", "Whether netpath watches the network.", [.init(true)])
        text.gauge("netpath_build_info", "The version of netpath.", [.init(1, ["version": netPathVersion])])
        text.add(path)
        text.add(reports)
        if let (tally, now) = self.tally { text.add(tally, targets: targets, at: now) }
        text.add(self.backendMetrics)
        more(&text)
        if let process = ProcessStatistics() { text.add(process) }
        return Array(text.text.utf8)
    }
}

extension MetricsText {
    /// What there is to tell while the service does not answer.
    static func down(isOpenMetrics: Bool) -> [UInt8] {
        var text = MetricsText(isOpenMetrics: isOpenMetrics)
        text.gauge("netpath_up", "Whether netpath watches the network.", [.init(false)])
        return Array(text.text.utf8)
    }

    /// What the path is.
    fileprivate mutating func add(_ path: NetworkPath?) {
        let states = PathStatus.allCases.map(\.rawValue) + ["unknown"]
        self.gauge(
            "netpath_status",
            "Whether there is a path; unknown while no backend has a verdict.",
            Sample.states("status", states, current: path?.status.rawValue ?? "unknown")
        )
        guard let path else { return }
        self.gauge("netpath_reason", "Why the status is what it is.", [.init(1, ["reason": path.reason.code.rawValue])])
        self.gauge("netpath_stale", "Whether no backend can confirm the path now.", [.init(path.isStale)])
        let answers = ["reachable", "unreachable", "portal", "unknown"]
        self.gauge(
            "netpath_internet",
            "What probes and backends say of the internet.",
            Sample.states("internet", answers, current: path.internet.rawValue)
        )
        self.gauge("netpath_expensive", "Whether traffic is likely to cost money.", [.init(path.isExpensive)])
        self.gauge(
            "netpath_interface_info",
            "The interfaces of the path, and what keeps others from it.",
            path.interfaces.map { one in
                .init(1, ["name": one.name, "type": one.type.rawValue, "reason": one.reason.code.rawValue])
            }
        )
        self.gauge(
            "netpath_gateway_answers",
            "Whether a gateway in use answers, where the kernel knows.",
            Self.gateways(of: path)
        )
        self.gauge(
            "netpath_disagreements",
            "Healthy backends that see another status.",
            [.init(path.disagreements.count)]
        )
    }

    private static func gateways(of path: NetworkPath) -> [Sample] {
        path.gateways.compactMap { gateway in
            guard let answers = gateway.answers else { return nil }
            let name = path.interfaces.first { $0.index == gateway.interfaceIndex }?.name ?? ""
            return Sample(answers, ["address": gateway.address.description, "interface": name])
        }
    }

    /// How the backends are doing.
    fileprivate mutating func add(_ reports: [BackendReport]) {
        let healths = [BackendHealth.starting, .healthy, .unhealthy, .standby, .off].map(\.rawValue)
        self.gauge(
            "netpath_backend_health",
            "How a backend is doing.",
            reports.flatMap { Sample.states("health", healths, current: $0.health.rawValue, ["backend": $0.name]) }
        )
        self.counter(
            "netpath_backend_restarts",
            "How often a backend was started again.",
            reports.map { .init($0.restarts, ["backend": $0.name]) }
        )
        self.counter(
            "netpath_backend_resynchronizations",
            "How often a backend lost events (an overrun) and read everything again.",
            reports.map { .init($0.resynchronizations, ["backend": $0.name]) }
        )
    }

    /// What happened since the coordinator started.
    fileprivate mutating func add(_ tally: CoordinatorTally, targets: [String], at now: MonotonicTime) {
        self.counter("netpath_paths_published", "Paths that differed from the one before.", [.init(tally.paths)])
        // From the start: of a counter that appears when it is 1, rates and increases see nothing.
        self.counter(
            "netpath_status_changes",
            "How often the status became another one.",
            PathStatus.allCases.map { .init(tally.changes[$0, default: 0], ["status": $0.rawValue]) }
        )
        self.counter(
            "netpath_status_seconds",
            "Time spent in each status.",
            PathStatus.allCases.map { .init(tally.time(in: $0, at: now).seconds, ["status": $0.rawValue]) }
        )
        let usual = Dictionary(PathReason.Code.withoutPath.map { ($0, Duration.zero) }) { first, _ in first }
        let down = usual.merging(tally.downtime(at: now)) { $1 }
        self.counter(
            "netpath_down_seconds",
            "How long there was no path, by the reason.",
            down.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { .init($0.value.seconds, ["reason": $0.key.rawValue]) }
        )
        if let age = tally.statusAge(at: now) {
            self.gauge("netpath_status_age_seconds", "Seconds since the status changed last.", [.init(age.seconds)])
        }
        let backends = tally.backends.sorted { $0.key < $1.key }
        self.counter(
            "netpath_reports",
            "Readings that a backend reported.",
            backends.map { .init($0.value.reports, ["backend": $0.key]) }
        )
        self.counter(
            "netpath_reports_without_change",
            "Reports that did not change the path.",
            backends.map { .init($0.value.reportsWithoutChange, ["backend": $0.key]) }
        )
        self.histogram(
            "netpath_report_latency_seconds",
            "From the beginning of a reading to the path that it led to.",
            backends.filter { !$0.value.latency.isEmpty }.map { (["backend": $0.key], $0.value.latency) }
        )
        self.add(tally.targets, configured: targets)
    }

    private mutating func add(_ targets: [String: CoordinatorTally.Target], configured: [String]) {
        var results: [Sample] = []
        for target in Set(configured).union(targets.keys).sorted() {
            // Of one kind of failure there may be several error numbers.
            let seen = (targets[target]?.results ?? [:]).map { ($0.key.name, $0.value) }
            let byName = Dictionary(seen + ProbeOutcome.Result.names.map { ($0, 0) }, uniquingKeysWith: +)
            for (name, count) in byName.sorted(by: { $0.key < $1.key }) {
                results.append(Sample(count, ["target": target, "result": name]))
            }
        }
        self.counter("netpath_probe_results", "Results of probes.", results)
        let targets = targets.sorted { $0.key < $1.key }
        self.histogram(
            "netpath_probe_round_trip_seconds",
            "The round trips of probes that were answered.",
            targets.filter { !$0.value.roundTrips.isEmpty }.map { (["target": $0.key], $0.value.roundTrips) }
        )
    }
}

extension MetricsText {
    /// What backends count themselves: of families with one name, the kind and the help are those of the first.
    mutating func add(_ metrics: [(backend: String, metrics: [BackendMetric])]) {
        var families: [String: (first: BackendMetric, samples: [Sample])] = [:]
        for (backend, metrics) in metrics {
            for metric in metrics {
                var family = families[metric.name] ?? (metric, [])
                guard family.first.kind == metric.kind else { continue }
                family.samples += metric.samples.map { Sample($0, of: backend) }
                families[metric.name] = family
            }
        }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            self.family("netpath_plugin_\(name)", family.first.kind, family.first.help, family.samples)
        }
    }
}

extension PathReason.Code {
    /// The reasons for which there is no path, in this version.
    static let withoutPath: [Self] = [
        .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected, .captivePortal, .dialOnDemand,
        .routeRejects, .ignoredInterface, .noCarrier, .probeFailed, .statedUnreachable, .gatewaySilent, .noRoute,
        .noAddress, .radioBlocked, .interfaceDown, .allDown, .noInterface, .stated,
    ]
}

extension ProbeOutcome.Result {
    /// The names of all results.
    fileprivate static let names =
        [
            Self.connected, .refused, .unreachable(errno: 0), .timedOut, .notResolved, .portal, .expected, .unexpected,
            .impersonated,
        ].map(\.name)
}

extension LoadedConfiguration {
    /// The targets of probes under the names that their results have: of `httpProbe` without the query, which may hold secrets.
    var probeTargets: [String] {
        self.effective.values.compactMap { value in
            let parts = value.path.split(separator: ".")
            guard parts.count > 1, parts[0].hasPrefix("backends[") else { return nil }
            if parts.count == 2, parts[1].hasPrefix("targets[") || parts[1] == "portalAPI" { return value.text }
            guard parts.count == 3, parts[1].hasPrefix("checks["), parts[2] == "url" else { return nil }
            return String(value.text.prefix { $0 != "?" && $0 != "#" })
        }
    }
}
