// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The least a program can do: joins the same groups as netpath, blocks in recv, and prints one line for each message
// about a default route, an address or a link. It knows no state, decides nothing and cannot be wrong.

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                             RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
                             RTNLGRP_IPV6_IFINFO};

static int describe(const struct nlmsghdr *message, char *line, size_t size) {
    const char *verb = message->nlmsg_type % 4 == 0 ? "new" : "deleted";
    switch (message->nlmsg_type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE: {
        const struct rtmsg *route = NLMSG_DATA(message);
        if (route->rtm_dst_len != 0) return 0;
        int left = RTM_PAYLOAD(message), interface = 0;
        for (struct rtattr *a = RTM_RTA(route); RTA_OK(a, left); a = RTA_NEXT(a, left))
            if (a->rta_type == RTA_OIF) memcpy(&interface, RTA_DATA(a), sizeof interface);
        return snprintf(line, size, "{\"event\":\"%s default route\",\"interface\":%d}\n", verb, interface);
    }
    case RTM_NEWADDR:
    case RTM_DELADDR: {
        const struct ifaddrmsg *address = NLMSG_DATA(message);
        return snprintf(line, size, "{\"event\":\"%s address\",\"interface\":%u}\n", verb, address->ifa_index);
    }
    case RTM_NEWLINK:
    case RTM_DELLINK: {
        const struct ifinfomsg *link = NLMSG_DATA(message);
        return snprintf(line, size, "{\"event\":\"%s link\",\"interface\":%d,\"flags\":%u}\n", verb, link->ifi_index,
                        link->ifi_flags);
    }
    default: return 0;
    }
}

int main(void) {
    int events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    // Unbound, a socket counts as the one that asked for every change, and is told of none.
    struct sockaddr_nl self = {.nl_family = AF_NETLINK};
    if (bind(events, (struct sockaddr *)&self, sizeof self) != 0) return 1;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (setsockopt(events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) != 0) return 1;
    if (write(STDOUT_FILENO, "{\"event\":\"listening\"}\n", 22) != 22) return 1;
    static _Alignas(struct nlmsghdr) char buffer[65536];
    for (;;) {
        ssize_t count = recv(events, buffer, sizeof buffer, 0);
        // Lost events (ENOBUFS) are gone; a listener without state has nothing to make good.
        if (count < 0) continue;
        int left = (int)count;
        for (struct nlmsghdr *message = (void *)buffer; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
            char line[128];
            int length = describe(message, line, sizeof line);
            if (length > 0 && write(STDOUT_FILENO, line, (size_t)length) != length) return 0;
        }
    }
}
