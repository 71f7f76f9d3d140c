// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The bare listener with the questions of netpath: after each datagram it asks the kernel where packets to four
// addresses would go, in general and through the uplink, and prints the answers. What a monitor costs that believes
// the kernel instead of the events, before it knows or decides anything.

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { questions = 6 };

static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                             RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
                             RTNLGRP_IPV6_IFINFO};

struct question {
    struct nlmsghdr header;
    struct rtmsg route;
    char attributes[32];
};

static int open_socket(void) {
    int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl self = {.nl_family = AF_NETLINK};
    int on = 1;
    if (bind(s, (struct sockaddr *)&self, sizeof self) != 0) return -1;
    if (setsockopt(s, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on) != 0) return -1;
    return s;
}

static void put(struct question *question, unsigned short type, const void *value, size_t size) {
    struct rtattr *attribute = (void *)((char *)question + NLMSG_ALIGN(question->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), value, size);
    question->header.nlmsg_len = NLMSG_ALIGN(question->header.nlmsg_len) + RTA_SPACE(size);
}

static size_t add(char *batch, size_t used, unsigned sequence, const char *text, int interface) {
    struct question question = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof question.route),
                                           .nlmsg_type = RTM_GETROUTE,
                                           .nlmsg_flags = NLM_F_REQUEST,
                                           .nlmsg_seq = sequence}};
    unsigned char address[16];
    int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    inet_pton(family, text, address);
    question.route = (struct rtmsg){.rtm_family = family,
                                    .rtm_dst_len = family == AF_INET ? 32 : 128,
                                    .rtm_flags = RTM_F_FIB_MATCH | (family == AF_INET ? RTM_F_LOOKUP_TABLE : 0)};
    put(&question, RTA_DST, address, family == AF_INET ? 4 : 16);
    if (interface) put(&question, RTA_OIF, &interface, sizeof interface);
    memcpy(batch + used, &question, question.header.nlmsg_len);
    return used + NLMSG_ALIGN(question.header.nlmsg_len);
}

int main(void) {
    int events = open_socket(), asked = open_socket(), uplink = (int)if_nametoindex("wan0");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (setsockopt(events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) != 0) return 1;
    char batch[questions * sizeof(struct question)];
    const char *addresses[questions] = {"9.0.0.1", "193.0.0.1", "2600::1", "3000::1", "9.0.0.1", "2600::1"};
    size_t size = 0;
    for (int i = 0; i < questions; i++) size = add(batch, size, (unsigned)i, addresses[i], i < 4 ? 0 : uplink);
    if (write(STDOUT_FILENO, "{\"event\":\"listening\"}\n", 22) != 22) return 1;
    static _Alignas(struct nlmsghdr) char buffer[65536];
    for (;;) {
        if (recv(events, buffer, sizeof buffer, 0) < 0) continue;
        if (send(asked, batch, size, 0) < 0) return 1;
        char line[256];
        int length = snprintf(line, sizeof line, "{\"routes\":[");
        for (int i = 0; i < questions; i++) {
            if (recv(asked, buffer, sizeof buffer, 0) < 0) return 1;
            const struct nlmsghdr *answer = (void *)buffer;
            int interface = 0, left = RTM_PAYLOAD(answer);
            if (answer->nlmsg_type == RTM_NEWROUTE)
                for (struct rtattr *a = RTM_RTA(NLMSG_DATA(answer)); RTA_OK(a, left); a = RTA_NEXT(a, left))
                    if (a->rta_type == RTA_OIF) memcpy(&interface, RTA_DATA(a), sizeof interface);
            length += snprintf(line + length, sizeof line - (size_t)length, "%s%d", i ? "," : "", interface);
        }
        length += snprintf(line + length, sizeof line - (size_t)length, "]}\n");
        if (write(STDOUT_FILENO, line, (size_t)length) != length) return 0;
    }
}
