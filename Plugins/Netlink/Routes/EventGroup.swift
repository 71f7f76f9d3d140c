// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

/// A group of events of route netlink.
struct EventGroup {
    let number: rtnetlink_groups
    /// What it is about, for people.
    let name: String
    /// Whether the monitor misses changes of the path without it; others tell sooner what shows in the end.
    var isNeeded = true

    /// Those that can change the path.
    static let all = [
        EventGroup(number: RTNLGRP_LINK, name: "links"),
        EventGroup(number: RTNLGRP_IPV4_IFADDR, name: "IPv4 addresses"),
        EventGroup(number: RTNLGRP_IPV6_IFADDR, name: "IPv6 addresses"),
        EventGroup(number: RTNLGRP_IPV4_ROUTE, name: "IPv4 routes"),
        EventGroup(number: RTNLGRP_IPV6_ROUTE, name: "IPv6 routes"),
        EventGroup(number: RTNLGRP_IPV4_RULE, name: "IPv4 rules"),
        EventGroup(number: RTNLGRP_IPV6_RULE, name: "IPv6 rules"),
        EventGroup(number: RTNLGRP_NEXTHOP, name: "next hops"),
        // The only word about a router advertisement that brings no address by itself.
        EventGroup(number: RTNLGRP_IPV6_IFINFO, name: "router advertisements"),
        // The kernel prefers a gateway that answers.
        EventGroup(number: RTNLGRP_NEIGH, name: "neighbours", isNeeded: false),
        // Whether routes of interfaces without a carrier are ignored.
        EventGroup(number: RTNLGRP_IPV4_NETCONF, name: "IPv4 settings", isNeeded: false),
        EventGroup(number: RTNLGRP_IPV6_NETCONF, name: "IPv6 settings", isNeeded: false),
        // What most router advertisements carry: they can change a route's lifetime, of which nothing else tells.
        EventGroup(number: RTNLGRP_IPV6_PREFIX, name: "announced prefixes", isNeeded: false),
        EventGroup(number: RTNLGRP_ND_USEROPT, name: "announced name servers", isNeeded: false),
    ]
}
