// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath
import NetPathSystem

/// What IPsec does with packets that have a route, as the kernel's policies and states say.
///
/// The kernel tells them to CAP_NET_ADMIN only, and then the same for every lookup of a backend; used on any thread.
final class IPsecPolicies: Sendable {
    private final class Known {
        let queries: KernelQueries
        var policies: [IPsecPolicy] = []
        /// What becomes of packets that no policy is for (`ip xfrm policy setdefault`, Linux 5.15).
        var blocksOthers = false

        init(_ queries: KernelQueries) {
            self.queries = queries
        }
    }

    private let known: Guarded<Known>
    private let procfs: String

    /// Opens a socket, and reads nothing; nil without the privilege, and where the kernel has no IPsec.
    ///
    /// - Parameters:
    ///   - procfs: The folder of procfs with what the network namespace has.
    ///   - loadsModule: Whether the kernel may load its module for such sockets, without which there are no policies.
    init?(procfs: String, loadsModule: Bool) {
        guard netpath_may_configure(), loadsModule || !Self.groups(procfs).isEmpty,
            let queries = try? KernelQueries(protocol: NETLINK_XFRM)
        else { return nil }
        self.known = Guarded(Known(queries))
        self.procfs = procfs
    }

    /// Reads the policies.
    ///
    /// - Returns: Whether they are others than before.
    func read() -> Bool {
        self.known.withLock { known in
            let request = NetlinkRequest(XFRM_MSG_GETPOLICY, flags: NLM_F_DUMP, headerLength: 0)
            let policies = known.queries.collect(request, into: [IPsecPolicy]()) { policies, message in
                if let policy = IPsecPolicy(message) { policies.append(policy) }
            }
            // Older kernels refuse the question.
            let question = NetlinkRequest(Self.getDefault, headerLength: 4)
            let answer = known.queries.ask(question) { $0.field(at: 2, as: UInt8.self) }
            let before = (known.policies, known.blocksOthers)
            if case .success(let policies) = policies { known.policies = policies }
            known.blocksOthers = answer == .success(Self.block)
            return before != (known.policies, known.blocksOthers)
        }
    }

    /// XFRM_MSG_GETDEFAULT and XFRM_USERPOLICY_BLOCK, which older headers lack.
    private static let (getDefault, block) = (40, UInt8(1))

    /// Whether any policy may decide on packets to one of these addresses.
    func concern(_ destinations: Set<InternetAddress>) -> Bool {
        self.known.withLock { known in
            known.policies.contains { destinations.contains(where: $0.selector.destination.contains) }
        }
    }

    /// Takes back that packets are sent, where a policy keeps them.
    func judge(_ answers: inout [RouteLookupResult], of questions: [RouteLookup.Question]) {
        for position in answers.indices {
            let flow = questions[position].flow
            guard case .route(let route) = answers[position],
                let rejection = self.known.withLock({ Self.rejection(of: flow, route, by: $0) }),
                !Self.isExempt(route, flow.destination.family)
            else { continue }
            answers[position] = .rejected(rejection == .ipsecState && self.isNegotiated ? .ipsecOnDemand : rejection)
        }
    }

    private static func rejection(of flow: Flow, _ route: Route, by known: Known) -> RouteRejection? {
        var chosen: IPsecPolicy?
        // The kernel shows the youngest first, and takes the eldest of equals.
        for policy in known.policies where policy.priority <= chosen?.priority ?? .max {
            if policy.covers(flow, route) { chosen = policy }
        }
        guard let chosen else { return known.blocksOthers ? .ipsecBlock : nil }
        if chosen.blocks { return .ipsecBlock }
        return self.hasStates(chosen, flow, known.queries) ? nil : .ipsecState
    }

    /// Whether a program negotiates states when packets need them.
    private var isNegotiated: Bool {
        Self.groups(self.procfs).contains { $0 >> (XFRMNLGRP_ACQUIRE.rawValue - 1) & 1 == 1 }
    }

    /// Whether there is a state for everything that a policy requires, as far as the kernel says.
    private static func hasStates(_ policy: IPsecPolicy, _ flow: Flow, _ queries: KernelQueries) -> Bool {
        var remote = flow.destination
        for template in policy.required {
            remote = template.remote ?? remote
            var isFound = false
            let result = queries.dumpRepeatedly(.dumpStates(to: remote)) { message in
                if let state = IPsecState(message), state.fits(template) { isFound = true }
            }
            if !isFound, result == .complete { return false }
        }
        return true
    }

    /// Whether packets that leave through an interface are none of IPsec's business.
    private static func isExempt(_ route: Route, _ family: AddressFamily) -> Bool {
        route.nextHops.contains { hop in
            if hop.interfaceIndex == NetworkInterface.loopbackIndex { return true }
            guard family == .ipv4, let name = AddressZone.name(ofInterface: hop.interfaceIndex) else { return false }
            return ["all", name].contains {
                FileAccess.contents("/proc/sys/net/ipv4/conf/\($0)/disable_xfrm", limit: 8)?.first == "1"
            }
        }
    }

    // MARK: Sockets

    /// The first 32 groups of each netlink socket of IPsec in this namespace, the kernel's own among them (`proc(5)`,
    /// `/proc/net/netlink`); empty where the kernel has none.
    private static func groups(_ procfs: String) -> [UInt32] {
        (FileAccess.contents("\(procfs)/netlink", limit: 1 << 20) ?? "").split(separator: "\n").compactMap { line in
            let columns = line.split(separator: " ", maxSplits: 4)
            return columns.count > 3 && columns[1] == "\(NETLINK_XFRM)" ? UInt32(columns[3], radix: 16) : nil
        }
    }
}

/// A state of IPsec (struct xfrm_usersa_info): keys, and what packets are done to with them.
struct IPsecState: Hashable {
    private let template: IPsecPolicy.Template

    /// Reads XFRM_MSG_NEWSA; nil of one that is still being negotiated, which has no number.
    init?(_ message: NetlinkMessage) {
        // The selector, the far end at 56, a number, a protocol, the near end, lifetimes, counts, the request, the mode.
        guard message.type == XFRM_MSG_NEWSA, let number = message.field(at: 72, as: UInt32.self), number != 0,
            let protocolNumber = message.field(at: 76, as: UInt8.self),
            let request = message.field(at: 208, as: UInt32.self), let mode = message.field(at: 214, as: UInt8.self)
        else { return nil }
        self.template = IPsecPolicy.Template(
            protocolNumber: protocolNumber,
            mode: mode,
            request: request,
            number: number
        )
    }

    /// Whether it is one that a policy asks for.
    func fits(_ template: IPsecPolicy.Template) -> Bool {
        var wanted = template
        wanted.remote = nil
        if wanted.number == 0 { wanted.number = self.template.number }
        return wanted == self.template
    }
}

extension NetlinkRequest {
    /// Asks for the states that packets to an address can be given to.
    fileprivate static func dumpStates(to remote: InternetAddress) -> NetlinkRequest {
        var request = NetlinkRequest(XFRM_MSG_GETSA, flags: NLM_F_DUMP, headerLength: 0)
        // struct xfrm_address_filter: source and destination, the family, the lengths of their prefixes.
        func padding(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let addresses = padding(16) + remote.bytes + padding(16 - remote.bytes.count)
        request.append(Int(XFRMA_ADDRESS_FILTER.rawValue), bytes: addresses + [0, 0, 0, UInt8(remote.bitWidth)])
        request.set(UInt16(remote.family.number), at: 4 + addresses.count)
        return request
    }
}
