// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// A group of events of route netlink.
struct EventGroup {
    let number: rtnetlink_groups
    /// What it is about, for people.
    let name: String
    /// Whether the monitor misses changes of the path without it; others tell sooner what shows in the end.
    let isNeeded: Bool

    private init(_ number: rtnetlink_groups, _ name: String, isNeeded: Bool = true) {
        self.number = number
        self.name = name
        self.isNeeded = isNeeded
    }

    /// Those that can change the path.
    static let all = [
        EventGroup(RTNLGRP_LINK, "links"),
        EventGroup(RTNLGRP_IPV4_IFADDR, "IPv4 addresses"),
        EventGroup(RTNLGRP_IPV6_IFADDR, "IPv6 addresses"),
        EventGroup(RTNLGRP_IPV4_ROUTE, "IPv4 routes"),
        EventGroup(RTNLGRP_IPV6_ROUTE, "IPv6 routes"),
        EventGroup(RTNLGRP_IPV4_RULE, "IPv4 rules"),
        EventGroup(RTNLGRP_IPV6_RULE, "IPv6 rules"),
        EventGroup(RTNLGRP_NEXTHOP, "next hops"),
        // The only word about a router advertisement that brings no address by itself.
        EventGroup(RTNLGRP_IPV6_IFINFO, "router advertisements"),
        // The kernel prefers a gateway that answers.
        EventGroup(RTNLGRP_NEIGH, "neighbours", isNeeded: false),
        // Whether routes of interfaces without a carrier are ignored.
        EventGroup(RTNLGRP_IPV4_NETCONF, "IPv4 settings", isNeeded: false),
        EventGroup(RTNLGRP_IPV6_NETCONF, "IPv6 settings", isNeeded: false),
        // What most router advertisements carry: they can change a route's lifetime, of which nothing else tells.
        EventGroup(RTNLGRP_IPV6_PREFIX, "announced prefixes", isNeeded: false),
        EventGroup(RTNLGRP_ND_USEROPT, "announced name servers", isNeeded: false),
    ]
}
