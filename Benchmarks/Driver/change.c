// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#include "change.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define GATEWAY "192.0.2.1"
#define SECOND_ADDRESS "198.51.100.7"

struct request {
    struct nlmsghdr header;
    union {
        struct rtmsg route;
        struct ifaddrmsg address;
        struct ifinfomsg link;
    } body;
    char attributes[64];
};

static int kernel = -1;

int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what, int error) {
    fprintf(stderr, "driver: cannot %s: %s\n", what, strerror(error));
    exit(1);
}

void change_open(void) {
    kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (kernel < 0) fail("open a netlink socket", errno);
}

static void begin(struct request *request, int type, int flags, size_t body) {
    memset(request, 0, sizeof *request);
    request->header.nlmsg_len = NLMSG_LENGTH(body);
    request->header.nlmsg_type = type;
    request->header.nlmsg_flags = NLM_F_REQUEST | flags;
}

static void put(struct request *request, int type, const void *value, size_t size) {
    struct rtattr *attribute = (void *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), value, size);
    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_SPACE(size);
}

static void put_address(struct request *request, int type, const char *text) {
    struct in_addr address;
    inet_pton(AF_INET, text, &address);
    put(request, type, &address, sizeof address);
}

static void perform(struct request *request, const char *what) {
    request->header.nlmsg_flags |= NLM_F_ACK;
    if (send(kernel, request, request->header.nlmsg_len, 0) < 0) fail(what, errno);
    _Alignas(struct nlmsghdr) char answer[4096];
    if (recv(kernel, answer, sizeof answer, 0) < 0) fail(what, errno);
    struct nlmsgerr *error = NLMSG_DATA((struct nlmsghdr *)answer);
    if (error->error != 0) fail(what, -error->error);
}

static void route_request(struct request *request, bool exists, unsigned char length) {
    begin(request, exists ? RTM_NEWROUTE : RTM_DELROUTE, exists ? NLM_F_CREATE : 0, sizeof request->body.route);
    request->body.route = (struct rtmsg){.rtm_family = AF_INET,
                                         .rtm_dst_len = length,
                                         .rtm_table = RT_TABLE_MAIN,
                                         .rtm_protocol = exists ? RTPROT_STATIC : RTPROT_UNSPEC,
                                         .rtm_scope = exists ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE,
                                         .rtm_type = RTN_UNICAST};
}

void change_default_route(bool exists) {
    struct request request;
    route_request(&request, exists, 0);
    uint32_t index = if_nametoindex(UPLINK);
    put_address(&request, RTA_GATEWAY, GATEWAY);
    put(&request, RTA_OIF, &index, sizeof index);
    perform(&request, "change the default route");
}

void change_address(bool exists) {
    struct request request;
    begin(&request, exists ? RTM_NEWADDR : RTM_DELADDR, exists ? NLM_F_CREATE : 0, sizeof request.body.address);
    request.body.address =
        (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = if_nametoindex(UPLINK)};
    put_address(&request, IFA_LOCAL, SECOND_ADDRESS);
    put_address(&request, IFA_ADDRESS, SECOND_ADDRESS);
    perform(&request, "change the second address");
}

void change_link(bool up) {
    struct request request;
    begin(&request, RTM_NEWLINK, 0, sizeof request.body.link);
    request.body.link =
        (struct ifinfomsg){.ifi_index = (int)if_nametoindex(UPLINK), .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP};
    perform(&request, "change the link");
}

void change_mtu(const char *interface, unsigned mtu) {
    struct request request;
    begin(&request, RTM_NEWLINK, 0, sizeof request.body.link);
    request.body.link = (struct ifinfomsg){.ifi_index = (int)if_nametoindex(interface)};
    uint32_t value = mtu;
    put(&request, IFLA_MTU, &value, sizeof value);
    perform(&request, "change the MTU");
}

void change_host_routes(bool exist, uint32_t count) {
    static char batch[64 * sizeof(struct request)];
    size_t used = 0;
    uint32_t index = if_nametoindex(UPLINK);
    for (uint32_t i = 0; i < count; i++) {
        struct request request;
        route_request(&request, exist, 32);
        // The far end answers for them: a route through a device needs no gateway.
        request.body.route.rtm_scope = exist ? RT_SCOPE_LINK : RT_SCOPE_NOWHERE;
        uint32_t destination = htonl(0x0A000000 + i);
        put(&request, RTA_DST, &destination, sizeof destination);
        put(&request, RTA_OIF, &index, sizeof index);
        memcpy(batch + used, &request, request.header.nlmsg_len);
        used += NLMSG_ALIGN(request.header.nlmsg_len);
        if (used + sizeof request <= sizeof batch && i + 1 < count) continue;
        if (send(kernel, batch, used, 0) < 0) fail("change host routes", errno);
        used = 0;
    }
    // Refusals are the only answers to requests without NLM_F_ACK, and there must be none.
    _Alignas(struct nlmsghdr) char answer[4096];
    if (recv(kernel, answer, sizeof answer, MSG_DONTWAIT) > 0) {
        struct nlmsgerr *error = NLMSG_DATA((struct nlmsghdr *)answer);
        fail("change host routes", -error->error);
    }
}
