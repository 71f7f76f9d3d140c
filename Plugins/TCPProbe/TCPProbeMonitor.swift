// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

/// Asks hosts of the internet whether they can be reached, by connecting to them over TCP and closing at once.
///
/// Attempts are staggered over targets and families (RFC 8305), and the first answer, be it a refusal, ends a round.
/// A round runs at the start, whenever another backend saw a change, and every ``Options/interval``; never more than
/// ``Options/maxPerMinute`` attempts are made in any 60 s, whatever happens and however often monitors of the same
/// targets are started. What was found out last counts meanwhile, for ``Options/validFor``. It sees what routes cannot
/// tell, such as a network that is dead beyond the gateway, and by itself only says whether the internet answers: other
/// backends decide whether there is a path. A captive portal that accepts every connection looks like an answer.
public struct TCPProbeMonitor: PathMonitor {
    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// Whom to connect to, the most important first; without any, nothing is sent and nothing known.
        public var targets: [ProbeTarget]
        /// The time between rounds while a target answers, and the longest one while the network refuses; ±10 % by
        /// chance.
        public var interval: Duration = .seconds(30)
        /// The interval on a metered or constrained path (`MonitorContext.isMetered(through:)`); nil for ten times
        /// ``interval``.
        public var meteredInterval: Duration?
        /// The longest time between rounds while nothing comes back; nil for two minutes for each SYN that Linux sends
        /// within ``timeout``.
        public var backoff: Duration?
        /// How long one attempt, or the lookup of a name, may take.
        public var timeout: Duration = .seconds(3)
        /// The time between the starts of two attempts of a round; RFC 8305 recommends 250 ms.
        public var stagger: Duration = .milliseconds(250)
        /// How long the outcomes of a round count when no other one can be finished; longer where rounds are further apart
        /// than ``interval``, by as much.
        public var validFor: Duration = .seconds(90)
        /// How many attempts may be made in any 60 s, at least 2; a lookup of a name is one, a connection another.
        ///
        /// The attempts of all monitors of the process at the same targets count.
        public var maxPerMinute = 60
        /// The interface that packets leave through, whatever the routes say; nil to follow the system's routes.
        public var interface: String?
        /// The mark of the packets for policy rules, which needs CAP_NET_ADMIN; nil for none.
        public var mark: UInt32?

        /// Creates options that are the default ones but for the targets.
        public init(targets: [ProbeTarget] = []) {
            self.targets = targets
        }
    }

    let options: Options
    let names: NameService
    let ledger: ProbeLedger

    /// Creates a monitor.
    public init(_ options: Options) {
        self.init(options, names: .shared, ledger: .shared)
    }

    init(_ options: Options, names: NameService, ledger: ProbeLedger) {
        self.options = options
        self.names = names
        self.ledger = ledger
    }

    /// It sends packets.
    public var reachesOut: Bool { true }

    /// Probes until cancelled, on a thread of its own.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    /// - Throws: When the system grants no sockets, or not with the mark or interface wanted, with the reason.
    public func run(_ context: MonitorContext) async throws {
        try await context.runOnThread(watches: false, refreshSpacing: .milliseconds(20)) { mailbox in
            try ProbeSession(self, mailbox, context).run()
        }
    }
}
