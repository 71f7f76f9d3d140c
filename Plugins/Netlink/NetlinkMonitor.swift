// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

/// Watches the network through the kernel's route netlink socket (`rtnetlink(7)`): "the kernel filters, the kernel
/// decides".
///
/// Events are hints. What a packet to the internet would meet is never computed from route events, which the kernel
/// does not send for every change, but asked of the kernel after each event. A filter in the kernel keeps events that
/// cannot matter from waking the process. Needs no privilege.
public struct NetlinkMonitor: PathMonitor {
    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// The addresses that stand for the whole internet; a family has a path when the kernel routes all of its own.
        ///
        /// A family without any is unknown, and what is unknown never makes a path unsatisfied: name both.
        public var referenceDestinations = ReferenceRoute.defaultDestinations
        /// The room for events that are not read yet, in bytes.
        ///
        /// When it overflows everything is read again.
        public var receiveBuffer = 1 << 20
        /// Whether a datagram socket may be connected to learn which IPv6 source address programs get, where no route
        /// is for all of them.
        ///
        /// Nothing is sent, but an IPsec policy may start a negotiation (`xfrm_lookup`, net/xfrm/xfrm_policy.c). Without
        /// it the addresses there are are tried one after the other.
        public var connectsForSource = true
        /// Where sysfs is mounted.
        public var sysfs = "/sys"
        /// The resolver's configuration file.
        public var resolvConf = "/etc/resolv.conf"
        /// The device that tells of radio switches; where it cannot be read they are looked at with other changes.
        var radioSwitches = "/dev/rfkill"
        /// The folder of procfs with what the network namespace of this thread has besides.
        var procfs = "/proc/thread-self/net"
        /// The folder in which running programs keep their files.
        var runtime = "/run"

        /// Creates the default options.
        public init() {}
    }

    private let options: Options

    /// It knows what the kernel knows.
    public var speaksOfInternet: Bool { false }

    /// Creates a monitor.
    public init(_ options: Options = Options()) {
        self.options = options
    }

    /// Watches until cancelled, on a thread of its own; where it is asked once, reads and reports on the caller's.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: When the system grants no netlink socket or takes it away, with the reason.
    public func run(_ context: MonitorContext) async throws {
        // It takes about a millisecond; another thread would only have to be waited for.
        if context.asksOnce { return try NetlinkSession(options: self.options, context: context).begin() }
        try await context.runOnThread(watches: true) { mailbox in
            try NetlinkSession(options: self.options, context: context).run(mailbox)
        }
    }
}

extension NetlinkMonitor {
    /// Adds this backend to a registry, as `type: netlink`.
    public static func register(in registry: inout BackendRegistry) {
        registry.register("netlink", summary: "route events and forwarding decisions of the kernel") { section in
            var options = Options()
            options.referenceDestinations = section.referenceDestinations
            // The kernel's minimum is about 2 KiB.
            options.receiveBuffer = section.integer("receiveBuffer", default: options.receiveBuffer, in: 2048...1 << 30)
            options.connectsForSource = section.boolean("connectForSource", default: options.connectsForSource)
            options.sysfs = section.string("sysfs", default: options.sysfs)
            options.resolvConf = section.string("resolvConf", default: options.resolvConf)
            return NetlinkMonitor(options)
        }
    }
}
