// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>
#include <netlink/object.h>
#include <netlink/route/link.h>
#include <netlink/route/addr.h>
#include <netlink/route/link/inet6.h>
#include <linux/rtnetlink.h>
#include <linux/nexthop.h>
#include <linux/if_link.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/filter.h>

// Swift's Glibc module leaves these two out.
#include <sys/eventfd.h>
#include <sys/timerfd.h>
