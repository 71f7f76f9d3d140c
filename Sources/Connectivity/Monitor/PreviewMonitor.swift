// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// A network that does not exist, for previews and tests of what a program shows.
public struct PreviewMonitor: PathMonitor {
    private let type: ConnectionType
    /// How long each of the two states holds; nil when nothing changes.
    private let period: Duration?
    private let isCaptive: Bool
    /// What a person would have to say of the network.
    fileprivate let settings: CoordinatorSettings

    private init(
        _ type: ConnectionType,
        period: Duration? = nil,
        isCaptive: Bool = false,
        settings: CoordinatorSettings = CoordinatorSettings()
    ) {
        self.type = type
        self.period = period
        self.isCaptive = isCaptive
        self.settings = settings
    }

    /// Connected.
    public static let online = Self.online(over: .wifi)
    /// Not connected: the Wi-Fi interface is down.
    public static let offline = Self(.none)
    /// Connected and not connected in turns, 2 s each; connected first.
    public static let flapping = Self.flapping(every: .seconds(2))
    /// Connected to a network whose captive portal answers for the internet.
    public static let captive = Self(.wifi, isCaptive: true)
    /// Connected to a Wi-Fi network that costs money, such as a telephone's.
    ///
    /// A rule says so, which ``NetworkMonitor/preview(_:deliverOn:)`` applies.
    public static let metered: PreviewMonitor = {
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("*")))
        rule.isExpensive = true
        return Self(.wifi, settings: CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule])))
    }()

    /// Connected over something; with ``ConnectionType/none`` not connected.
    public static func online(over type: ConnectionType) -> PreviewMonitor { Self(type) }

    /// Connected and not connected in turns.
    ///
    /// - Parameters:
    ///   - period: How long each of the two holds; at least 10 ms.
    ///   - type: What it is connected over.
    /// - Returns: What ``NetworkMonitor/preview(_:deliverOn:)`` takes.
    public static func flapping(every period: Duration, over type: ConnectionType = .wifi) -> PreviewMonitor {
        Self(type, period: max(period, .milliseconds(10)))
    }

    /// Plays the preview until cancelled.
    ///
    /// - Parameter context: What the coordinator offers.
    /// - Throws: `CancellationError` when cancelled.
    public func run(_ context: MonitorContext) async throws {
        let start = context.clock.now()
        context.report(self.evidence(at: start, since: start))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in context.refreshRequests {
                    context.report(self.evidence(at: context.clock.now(), since: start))
                }
            }
            group.addTask {
                var next = start
                while let period {
                    next = next + period
                    try await context.clock.sleep(until: next)
                    context.report(self.evidence(at: context.clock.now(), since: start))
                }
            }
            try await group.waitForAll()
        }
    }

    private func evidence(at now: MonotonicTime, since start: MonotonicTime) -> Evidence {
        let turns = self.period.map { Int64((now - start) / $0) } ?? 0
        let isOnline = self.type != .none && turns.isMultiple(of: 2)
        var interface = NetworkInterface(
            index: 2,
            name: self.type.previewInterface.name,
            type: self.type.previewInterface.type,
            flags: isOnline ? [.up] : []
        )
        interface.operationalState = isOnline ? .up : .down
        interface.hasCarrier = isOnline
        var evidence = Evidence(at: now)
        evidence.interfaces = [interface]
        let route = RouteLookupResult.route(Route(nextHops: [NextHop(interfaceIndex: interface.index)]))
        evidence.referenceRoutes = ReferenceRoute.defaultDestinations.map {
            ReferenceRoute(to: $0, isOnline && $0.family == .ipv4 ? route : .noRoute)
        }
        if self.isCaptive {
            let outcome = ProbeOutcome(target: "preview", result: .portal)
            evidence.probes = ProbeRound(outcomes: [outcome], isComplete: true)
        }
        return evidence
    }
}

extension NetworkMonitor {
    /// Makes a monitor that runs and shows a preview.
    ///
    /// - Parameters:
    ///   - preview: What it shows, for example `.offline`.
    ///   - delivery: Where the handler and observers are called.
    /// - Returns: The monitor, which was started.
    public static func preview(
        _ preview: PreviewMonitor,
        deliverOn delivery: ConnectivityDelivery = .main
    ) -> NetworkMonitor {
        let monitor = NetworkMonitor(monitor: preview, settings: preview.settings, deliverOn: delivery)
        monitor.start()
        return monitor
    }
}

extension ConnectionType {
    /// What the interface of a preview is, and its name.
    fileprivate var previewInterface: (type: InterfaceType, name: String) {
        switch self {
        case .wifi, .none: (.wifi, "wlan0")
        case .cellular: (.cellular, "wwan0")
        case .ethernet: (.wired, "eth0")
        case .loopback: (.loopback, "lo")
        case .other: (.other, "tun0")
        }
    }
}
