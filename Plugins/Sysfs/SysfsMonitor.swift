// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathPluginKit

/// Watches the network by looking again and again at sysfs and at the namespace's procfs: evidence that does not come
/// from netlink.
///
/// It reads `/sys/class/net` and, in `/proc/thread-self/net`, the interfaces, routes and addresses, and asks for the
/// rest through `netdevice(7)`. It sees the main routing tables only, no policy rules, so that what it does not find
/// may still exist (`Evidence.isPartial`). Needs no privilege, and no thread of its own.
public struct SysfsMonitor: PathMonitor {
    private let options: Options

    /// It knows what the kernel shows.
    public var speaksOfInternet: Bool { false }

    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// The addresses that stand for the whole internet; a family has a path when the tables route all of its own.
        public var referenceDestinations = ReferenceRoute.defaultDestinations
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
        var noted: [String] = []
        try await context.poll { cause in
            let (evidence, isNews) = try session.look(rules: context.interfaceRules)
            for limitation in evidence.limitations where !noted.contains(limitation) {
                context.log(.warning, limitation)
            }
            noted = evidence.limitations
            if isNews || cause.isAsked { context.report(evidence) }
            return PollPause(until: session.schedule.next ?? context.clock.now(), notBefore: session.schedule.earliest)
        }
    }
}

extension SysfsMonitor {
    /// Adds this backend to a registry, as `type: sysfs`.
    public static func register(in registry: inout BackendRegistry) {
        registry.register("sysfs", summary: "polls sysfs and procfs") { section in
            var options = Options()
            options.referenceDestinations = section.referenceDestinations
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
