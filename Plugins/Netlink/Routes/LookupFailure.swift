// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What it means that the kernel answers a route lookup (RTM_GETROUTE) or a dump with an error.
enum LookupFailure: Hashable {
    /// No route leads there.
    case noRoute
    /// A route or a policy rule refuses the packet.
    case rejected(RouteRejection)
    /// This kernel has none of the family, as IPv6 when it is compiled out or was switched off at boot
    /// (`ipv6.disable=1`): nothing can be sent, which is a plain no.
    case noSuchFamily
    /// The answer is not one about routes: a sandbox, a kernel short of memory, a request it does not understand.
    case cannotTell

    /// The table of all error numbers that are known to come; what is not in it says nothing.
    ///
    /// | number | where it comes from |
    /// |---|---|
    /// | ENETUNREACH | no rule leads to a route, and rules of type unreachable: `fib_lookup` (include/net/ip_fib.h), `fib4_rule_action` (net/ipv4/fib_rules.c), `ip6_null_entry` (net/ipv6/route.c); also routes of type throw, with which the search of a table ends; in IPv4 a source address that is not local (`ip_route_output_key_hash_rcu`, net/ipv4/route.c) |
    /// | ESRCH | no rule leads to a route, in kernels that do not translate it (`fib_rules_lookup`, net/core/fib_rules.c) |
    /// | EHOSTUNREACH | a route of type unreachable: `fib_props` (net/ipv4/fib_semantics.c), `ip6_rt_type_to_error` (net/ipv6/route.c) |
    /// | EACCES | a route or a rule of type prohibit: the same places |
    /// | EINVAL | a route or a rule of type blackhole: the same places; also a request the kernel does not understand, which ``RouteLookup`` finds out beforehand, and in old kernels a source address that is not local |
    /// | ENODEV | the interface that was asked for is gone: `ip_route_output_key_hash_rcu` |
    /// | EADDRNOTAVAIL | there is no address to send from: `ipv6_dev_get_saddr` (net/ipv6/addrconf.c) |
    /// | EAFNOSUPPORT | the family is not registered: `lookup_rules_ops` (net/core/fib_rules.c); `socket(2)` |
    /// | EOPNOTSUPP | the kernel has no handler of such requests for the family: `rtnetlink_rcv_msg` (net/core/rtnetlink.c) |
    /// | EPERM | a sandbox, or an IPsec policy that blocks: `xfrm_lookup` (net/xfrm/xfrm_policy.c) |
    /// | EAGAIN | an IPsec negotiation is under way: `xfrm_lookup` |
    /// | ENOBUFS, ENOMEM, EMSGSIZE | the kernel has no room for the answer |
    /// | ETIMEDOUT, EIO, EBADMSG | here: no answer, no socket, or an answer to something else |
    init(_ error: KernelError) {
        self =
            switch error {
            case .networkUnreachable, .noSuchObject, .noSuchDevice, .noAddress: .noRoute
            case .hostUnreachable: .rejected(.unreachable)
            case .accessDenied: .rejected(.prohibit)
            case .invalid: .rejected(.blackhole)
            case .noSuchFamily, .notSupported: .noSuchFamily
            default: .cannotTell
            }
    }

    /// What the failure of a lookup means for the packet.
    var answer: RouteLookupResult {
        switch self {
        case .noRoute, .noSuchFamily: .noRoute
        case .rejected(let rejection): .rejected(rejection)
        case .cannotTell: .unknown
        }
    }
}
