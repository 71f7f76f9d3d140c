// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
package import NetPathSystem
import Synchronization

/// Follows one host on a coordinator: looks its name up, asks the kernel about its addresses, tells what changes.
///
/// Handlers are called on whatever thread brings the news, one at a time and in order, while no lock is held.
package final class HostWatch: Sendable {
    private struct State: Sendable {
        var resolution: HostResolution?
        var routes: RouteWatch?
        var paths: ObservationToken?
        var files: UInt64?
        var sequence: UInt64?
        var status: HostStatus?
        var delivery = Delivery<HostStatus>()
        /// Until when backends may find out what carries the tunnel to the host.
        var tunnelDeadline: MonotonicTime?
        var timer: (deadline: MonotonicTime, task: Task<Void, Never>)?
        /// Questions are numbered, so that a late answer to an early one is not taken for news.
        var asked: UInt64 = 0
        var answered: UInt64 = 0
        var isEnded = false
    }

    /// How long it may take backends to find out what carries a tunnel to a host that was not watched before.
    private static let patience: Duration = .seconds(1)

    let coordinator: PathCoordinator
    private let host: NetworkHost
    private let names: NameService
    private let files: ResolverFiles?
    private let zones: @Sendable (String) -> UInt32?
    private let state = Mutex(State())

    /// Makes a watch that does nothing before it is started.
    ///
    /// - Parameters:
    ///   - host: What to follow.
    ///   - coordinator: Who is asked.
    ///   - names: Looks names up.
    ///   - files: Tells when names may be looked up otherwise; nil for who asks once.
    ///   - zones: Returns the index of the interface that the zone of an address names now.
    package init(
        _ host: NetworkHost,
        on coordinator: PathCoordinator,
        names: NameService = .shared,
        files: ResolverFiles? = .shared,
        zones: @escaping @Sendable (String) -> UInt32? = { AddressZone.interface($0) }
    ) {
        self.host = host
        self.coordinator = coordinator
        self.names = names
        self.files = files
        self.zones = zones
    }

    deinit { self.end() }

    /// Starts to follow the host; once.
    package func start() {
        let addresses: [InternetAddress]
        switch self.host {
        case .address(let address, _): addresses = address.isUnspecified ? [] : [address]
        case .name:
            addresses = []
            let files = self.files?.listen { [weak self] in self?.refresh() }
            self.state.withLock { state in
                state.resolution = HostResolution()
                state.files = files
            }
        }
        let routes = self.coordinator.watchRoutes(to: Set(addresses)) { [weak self] in self?.routesChanged() }
        // Where the path decides, which may be published later than what backends report.
        let paths = addresses.isEmpty ? self.coordinator.subscribe { [weak self] _ in self?.update() } : nil
        let isEnded = self.state.withLock { state in
            state.routes = routes
            state.paths = paths
            return state.isEnded
        }
        guard !isEnded else {
            routes.cancel()
            paths?.cancel()
            return self.end()
        }
        self.routesChanged(isFirst: true)
    }

    /// Ends everything, also a lookup's consequences; final.
    package func end() {
        let (routes, paths, files, timer, subscribers) = self.state.withLock { state in
            state.isEnded = true
            return (
                state.routes.take(), state.paths.take(), state.files.take(), state.timer.take(),
                state.delivery.removeAll()
            )
        }
        routes?.cancel()
        paths?.cancel()
        if let files { self.files?.remove(files) }
        timer?.task.cancel()
        for subscriber in subscribers { subscriber.onStop?() }
    }

    /// Asks the kernel at once; the name is not looked up for it.
    package func ask() -> HostStatus {
        let resolution = self.state.withLock { $0.resolution }
        return self.status(resolution)
    }

    /// Looks the name up again and asks the kernel again.
    package func refresh() {
        self.routesChanged(isFirst: true)
    }

    /// Calls a function with the status now and with every further one; nil when the watch has ended.
    package func subscribe(
        _ handler: @escaping @Sendable (HostStatus) -> Void,
        onStop: (@Sendable () -> Void)? = nil
    ) -> UInt64? {
        // Who was told of another network first asks about that.
        self.routesChanged()
        let id: UInt64? = self.state.withLock { state in
            state.isEnded ? nil : state.delivery.add(.init(handler: handler, onStop: onStop), current: state.status)
        }
        self.deliver()
        return id
    }

    /// Ends a subscription; called within its handler, no further call follows.
    package func unsubscribe(_ id: UInt64) {
        _ = self.state.withLock { $0.delivery.remove(id) }
    }

    // MARK: News

    private func routesChanged(isFirst: Bool = false) {
        let sequence = self.coordinator.path?.sequence
        self.resolve { resolution, state, now in
            // What another network says of a name may differ; the name servers are part of the path.
            let isChanged = isFirst || state.sequence != sequence
            state.sequence = sequence
            return isChanged && resolution.networkChanged(now: now)
        }
        self.update()
    }

    private func resolved(_ lookup: NameLookup) {
        self.resolve { resolution, _, now in
            resolution.ended(lookup, now: now)
            return resolution.wake(now: now)
        }
        let (routes, addresses) = self.state.withLock { ($0.routes, $0.resolution?.addresses ?? []) }
        routes?.change(to: Set(addresses))
        self.update()
    }

    /// Changes the state of the name, and does what that comes to.
    private func resolve(_ change: (inout HostResolution, inout State, MonotonicTime) -> Bool) {
        guard case .name(let name) = self.host else { return }
        let now = self.coordinator.clock.now()
        let isDue = self.state.withLock { state in
            guard !state.isEnded, var resolution = state.resolution else { return false }
            let isDue = change(&resolution, &state, now)
            state.resolution = resolution
            self.armTimer(&state, now: now)
            return isDue
        }
        if isDue { self.names.find(name) { [weak self] lookup in self?.resolved(lookup) } }
    }

    private func armTimer(_ state: inout State, now: MonotonicTime) {
        let deadlines = [state.resolution?.nextDeadline, state.tunnelDeadline.flatMap { $0 > now ? $0 : nil }]
        let deadline = deadlines.compactMap(\.self).min()
        guard deadline != state.timer?.deadline else { return }
        state.timer?.task.cancel()
        state.timer = deadline.map { deadline in
            let clock = self.coordinator.clock
            let task = Task(executorPreference: self.coordinator.executor) { [weak self] in
                do { try await clock.sleep(until: deadline) } catch { return }
                self?.wake(deadline)
            }
            return (deadline, task)
        }
    }

    private func wake(_ deadline: MonotonicTime) {
        self.resolve { resolution, state, now in
            if state.timer?.deadline == deadline { state.timer = nil }
            return resolution.wake(now: now)
        }
        self.update()
    }

    // MARK: Answers

    /// Asks the kernel and tells everybody what has changed.
    private func update() {
        let question: (UInt64, HostResolution?)? = self.state.withLock { state in
            guard !state.isEnded else { return nil }
            state.asked += 1
            return (state.asked, state.resolution)
        }
        guard let (number, resolution) = question else { return }
        let status = self.status(resolution)
        self.state.withLock { state in
            guard !state.isEnded, state.answered < number else { return }
            state.answered = number
            guard state.status != status else { return }
            state.status = status
            state.delivery.publish(status)
        }
        self.deliver()
    }

    private func deliver() {
        guard self.state.withLock({ $0.delivery.claim() }) else { return }
        while let call = self.state.withLock({ $0.delivery.next() }) { call.handler(call.value) }
    }

    private func status(_ resolution: HostResolution?) -> HostStatus {
        let addresses: [InternetAddress]
        var interface: UInt32?
        switch self.host {
        case .address(let address, let zone):
            // What SCNetworkReachability calls the zero address: any network.
            if address.isUnspecified { return HostStatus(of: self.coordinator.path, address) }
            addresses = [address]
            if zone == nil, address.family == .ipv6, address.isLinkLocal {
                let message = "\(address) is valid on one link only; name its interface, as in \(address)%eth0"
                return .unreachable(PathReason(.notConnectable, message))
            }
            if let zone {
                // Asked each time: interfaces come and go, and come back with another index.
                interface = self.zones(zone)
                guard interface != nil else {
                    let message = "there is no interface \(zone), which \(address)%\(zone) has to be reached through"
                    return .unreachable(PathReason(.noInterface, message))
                }
            }
        case .name(let name):
            addresses = resolution?.addresses ?? []
            if addresses.isEmpty {
                guard let failure = resolution?.failure else {
                    return .unknown(PathReason(.resolving, "\(name) is being looked up"))
                }
                // Without a network names cannot be looked up, and what they stand for is as far away as an address is.
                if let path = self.coordinator.path, path.status != .satisfied, !path.isStale {
                    return .unreachable(path.reason)
                }
                return .unknown(PathReason(.notResolved, "\(name) cannot be looked up: \(failure)"))
            }
        }
        let verdicts = addresses.map { ($0, self.coordinator.verdict(on: $0, through: interface)) }
        let chosen = verdicts.lazy.compactMap(\.1).first(where: \.isRouted)?.interface
        if self.awaitsCarrier(of: chosen), let chosen {
            return .unknown(PathReason(.resolving, "what carries \(chosen.name) is being looked up"))
        }
        return HostStatus(verdicts)
    }

    /// Whether packets would enter a tunnel that backends have not examined yet: they examine those of watched hosts.
    private func awaitsCarrier(of interface: NetworkInterface?) -> Bool {
        let isUnexamined =
            interface.map { interface in
                interface.isTunnel && interface.hasTunnelKind && !interface.isParentElsewhere
                    && interface.tunnelEvidence == nil
            } ?? false
        let now = self.coordinator.clock.now()
        return self.state.withLock { state in
            guard isUnexamined, !state.isEnded else {
                state.tunnelDeadline = nil
                return false
            }
            let deadline = state.tunnelDeadline ?? now + Self.patience
            state.tunnelDeadline = deadline
            self.armTimer(&state, now: now)
            return now < deadline
        }
    }
}
