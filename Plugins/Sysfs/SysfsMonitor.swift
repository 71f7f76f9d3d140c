// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// Watches the network by looking again and again at sysfs and at the namespace's procfs: evidence that does not come
/// from netlink.
///
/// It reads `/sys/class/net` and, in `/proc/thread-self/net`, the interfaces, routes and addresses, and asks for the
/// rest through `netdevice(7)`. It sees the main routing tables only, no policy rules, so that what it does not find
/// may still exist (`Observation.isPartial`). Needs no privilege, and no thread of its own.
public struct SysfsMonitor: PathMonitor {
    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// The addresses that stand for the whole internet; a family has a path when the tables route all of its own.
        public var representatives = RepresentativeRoute.defaultDestinations
        /// The time between two looks while nothing changes.
        public var interval = Duration.seconds(2)
        /// The time between two looks after a change; it doubles until it is the slow one.
        public var fastInterval = Duration.milliseconds(200)
        /// Where sysfs is mounted.
        public var sysfs = "/sys"
        /// The folder of procfs with the routes of the network namespace.
        ///
        /// Not `/proc/self/net`, which shows the namespace of the process's first thread.
        public var procfs = "/proc/thread-self/net"
        /// The resolver's configuration file.
        public var resolvConf = "/etc/resolv.conf"
        /// The folder of procfs with the settings of the network.
        var settings = "/proc/sys/net"
        /// The folder in which running programs keep their files.
        var runtime = "/run"

        /// Creates the default options.
        public init() {}
    }

    private let options: Options

    /// Creates a monitor.
    public init(_ options: Options = Options()) {
        self.options = options
    }

    /// Watches until cancelled.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: When nothing of this network namespace can be read, with the reason.
    public func run(_ context: MonitorContext) async throws {
        let session = try SysfsSession(options: self.options, clock: context.clock)
        let refresh = RefreshSignal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in context.refreshRequests { refresh.send() }
            }
            defer { group.cancelAll() }
            try await Self.watch(session, refresh, context)
        }
    }

    private static func watch(
        _ session: SysfsSession,
        _ refresh: RefreshSignal,
        _ context: MonitorContext
    ) async throws {
        var noted: [String] = []
        while !Task.isCancelled {
            let isAsked = refresh.take()
            let (observation, isNews) = try session.look(rules: context.interfaceRules)
            for limitation in observation.limitations where !noted.contains(limitation) {
                context.log(.warning, limitation)
            }
            noted = observation.limitations
            if isNews || isAsked { context.report(observation) }
            if context.asksOnce { return }
            let schedule = session.schedule
            if let next = schedule.next { await Self.wait(until: next, or: refresh, context.clock) }
            if let earliest = schedule.earliest { try? await context.clock.sleep(until: earliest) }
        }
    }

    /// Suspends until a look is due or asked for.
    private static func wait(
        until deadline: MonotonicTime,
        or refresh: RefreshSignal,
        _ clock: any MonotonicClock
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await clock.sleep(until: deadline) }
            group.addTask { await refresh.wait() }
            await group.next()
            group.cancelAll()
        }
    }
}

extension SysfsMonitor {
    /// Adds this backend to a registry, as `type: sysfs`.
    public static func register(in registry: inout BackendRegistry) {
        registry.register("sysfs", summary: "looks at sysfs and procfs at intervals") { section in
            var options = Options()
            options.representatives = section.representatives
            options.interval = section.duration(
                "interval",
                default: options.interval,
                in: .milliseconds(100)...(.seconds(3600))
            )
            options.fastInterval = section.duration(
                "fastInterval",
                default: options.fastInterval,
                in: .milliseconds(50)...(.seconds(3600))
            )
            options.sysfs = section.string("sysfs", default: options.sysfs)
            options.procfs = section.string("procfs", default: options.procfs)
            options.resolvConf = section.string("resolvConf", default: options.resolvConf)
            return SysfsMonitor(options)
        }
    }
}
