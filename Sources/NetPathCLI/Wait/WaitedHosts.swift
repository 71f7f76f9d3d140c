// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem
import Reachability

/// The hosts that are waited for: without a port the kernel is asked, with one they are connected to.
struct WaitedHosts: Sendable {
    /// The longest time between two attempts to connect; the first ones come sooner, and so do changes of the network.
    private static let interval = "2s"
    /// So many that a name with three addresses can be looked up and tried at each of them.
    private static let maxPerMinute = 120

    private let watches: [HostWatch]
    private let connections: PathCoordinator?

    /// Starts to follow hosts on a coordinator, and tells a session of them.
    ///
    /// - Throws: `ConfigurationError` for a host that cannot be connected to.
    init(
        _ targets: [HostTarget],
        on coordinator: PathCoordinator,
        loop: EventLoop,
        for session: WaitSession
    ) throws(ConfigurationError) {
        self.watches = targets.filter { $0.port == nil }.map { target in
            let watch = HostWatch(target.host, on: coordinator, files: target.isName ? .shared : nil)
            _ = watch.subscribe { status in session.take { $0.hosts[target] = WaitedHost(status) } }
            watch.start()
            return watch
        }
        let listeners = targets.filter { $0.port != nil }
        self.connections = listeners.isEmpty ? nil : try Self.connect(to: listeners, loop: loop, for: session)
        if let connections = self.connections {
            // Another way to the hosts is worth another attempt at once.
            coordinator.subscribe { _ in connections.refresh() }
        }
    }

    /// Ends everything.
    func end() {
        for watch in self.watches { watch.end() }
        self.connections?.stop()
    }

    /// Connects to hosts again and again, each by itself, by what the TCP probe does.
    private static func connect(
        to targets: [HostTarget],
        loop: EventLoop,
        for session: WaitSession
    ) throws(ConfigurationError) -> PathCoordinator {
        let entries = targets.enumerated().map { number, target in
            let host = target.probed(at: target.port ?? 0)
            let options = "interval: \(self.interval), backoff: \(self.interval), maxPerMinute: \(self.maxPerMinute)"
            return "{type: tcpProbe, name: \"\(number)\", targets: [\"\(host)\"], \(options)}"
        }
        let source = ConfigurationSource(name: "--host", text: "backends: [\(entries.joined(separator: ", "))]")
        let coordinator = try LoadedConfiguration.parse(source).makeCoordinator(clock: loop, executor: loop)
        coordinator.subscribeSnapshots { snapshots in
            session.take { view in
                for (target, snapshot) in zip(targets, snapshots) {
                    view.hosts[target] = WaitedHost(target, snapshot.evidence?.probes?.outcomes.first)
                }
            }
        }
        coordinator.start(watchingFiles: false)
        return coordinator
    }
}
