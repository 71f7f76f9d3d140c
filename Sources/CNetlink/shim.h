// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#include <stdbool.h>

#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>
#include <netlink/object.h>
#include <netlink/route/link.h>
#include <netlink/route/addr.h>
#include <netlink/route/link/inet6.h>
#include <linux/rtnetlink.h>
#include <linux/nexthop.h>
#include <linux/fib_rules.h>
#include <linux/netconf.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/filter.h>
#include <linux/wireguard.h>
#include <linux/xfrm.h>
#include <linux/capability.h>

// Swift's Glibc module leaves these two out.
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// Messages and attributes are walked by the kernel's own macros, which Swift does not see. libnl's functions do the
// same, but an event passes here a hundred times, and finds the code of another library cold.

static inline bool netpath_message_fits(const struct nlmsghdr *message, int room) { return NLMSG_OK(message, room); }
static inline struct nlmsghdr *netpath_next_message(struct nlmsghdr *message, int *room) {
    return NLMSG_NEXT(message, *room);
}
static inline bool netpath_attribute_fits(const struct rtattr *attribute, int room) { return RTA_OK(attribute, room); }
static inline struct rtattr *netpath_next_attribute(struct rtattr *attribute, int *room) {
    return RTA_NEXT(attribute, *room);
}

// recvmmsg(2) is for GNU sources only, and Swift's Clang importer reads the headers without that.
#include <sys/syscall.h>
#include <unistd.h>

enum { netpath_batch_size = 8 };

/// What was read into one slot: the length of the datagram, which may be larger than the slot, and its sender's port.
struct netpath_datagram {
    unsigned length, port;
};

/// Reads as many datagrams as there are, at most `limit` and never more than `netpath_batch_size`, into slots of one size
/// that follow one another. Returns their number; blocks for the first one only, unless the socket is non-blocking. -1
/// sets errno.
static inline int netpath_receive(int socket, char *slots, size_t size, int limit, struct netpath_datagram *datagrams) {
    struct {
        struct msghdr header;
        unsigned length;
    } messages[netpath_batch_size] = {0};
    struct iovec parts[netpath_batch_size];
    struct sockaddr_nl senders[netpath_batch_size];
    for (int i = 0; i < limit; i++) {
        parts[i] = (struct iovec){.iov_base = slots + i * size, .iov_len = size};
        messages[i].header = (struct msghdr){
            .msg_name = &senders[i], .msg_namelen = sizeof *senders, .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    const int wait_for_one = 0x10000;
    int count = (int)syscall(SYS_recvmmsg, socket, messages, limit, MSG_TRUNC | wait_for_one, NULL);
    for (int i = 0; i < count; i++)
        datagrams[i] = (struct netpath_datagram){.length = messages[i].length, .port = senders[i].nl_pid};
    return count;
}

/// Whether this thread may configure networks (CAP_NET_ADMIN of `capabilities(7)`); glibc has no function that tells.
static inline bool netpath_may_configure(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & 1u << CAP_NET_ADMIN) != 0;
}
