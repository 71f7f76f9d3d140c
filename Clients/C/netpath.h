/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * Asks netpath whether this machine has a network path, over what, and if not, why not: netpath(3).
 *
 * No function blocks, raises SIGPIPE, starts a thread or changes a signal handler. A handle is for one thread at a time, and
 * for the process that opened it: a child of fork(2) can only close its copy. Functions that can fail return a negative errno
 * value.
 */
#ifndef NETPATH_H
#define NETPATH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETPATH_VERSION 1

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Whether there is a path. UNKNOWN: netpath is not there, does not answer, or has no verdict; it never means "no". */
enum netpath_status {
    NETPATH_UNKNOWN = 0,
    NETPATH_UNSATISFIED = 1,
    NETPATH_REQUIRES_CONNECTION = 2,
    NETPATH_SATISFIED = 3
};

/* What probes say of the internet, where the configuration has some. */
enum netpath_internet {
    NETPATH_INTERNET_UNKNOWN = 0,
    NETPATH_INTERNET_UNREACHABLE = 1,
    NETPATH_INTERNET_PORTAL = 2,
    NETPATH_INTERNET_REACHABLE = 3
};

/* Whether packets to a host would be sent. */
enum netpath_reachability {
    NETPATH_HOST_UNKNOWN = 0,
    NETPATH_HOST_UNREACHABLE = 1,
    NETPATH_HOST_REACHABLE = 2,
    NETPATH_HOST_CELLULAR = 3
};

/* Of struct netpath_path. */
#define NETPATH_STALE 0x01u       /* the last known path, which cannot be confirmed now */
#define NETPATH_EXPENSIVE 0x02u   /* traffic is likely to cost money */
#define NETPATH_CONSTRAINED 0x04u /* traffic should be kept low */
#define NETPATH_IPV4 0x08u
#define NETPATH_IPV6 0x10u
#define NETPATH_DNS 0x20u

/* A path. Later versions add members at the end only; strings are UTF-8, without control characters, cut where needed. */
struct netpath_path {
    uint64_t change;          /* grows with each change of what follows */
    int32_t status;           /* enum netpath_status */
    int32_t internet;         /* enum netpath_internet */
    uint32_t flags;           /* NETPATH_STALE, ... */
    uint32_t interface_index; /* of the first interface; 0 where there is none */
    char interface_name[32];
    char interface_type[16];  /* wifi, cellular, wired, loopback, other */
    char reason[48];          /* a stable code, such as "noCarrier" */
    char message[256];        /* a sentence for people */
    char portal[512];         /* where a captive portal wants people to sign in; "" where none is known */
};

/* The answer to netpath_reach. */
struct netpath_host {
    int64_t question; /* what netpath_reach returned */
    int32_t status;   /* enum netpath_reachability */
    uint32_t reserved;
    char reason[48];
    char message[256];
};

/* Of netpath_open. */
#define NETPATH_NO_PROGRAM 0x01u /* never start `netpath watch` where no service answers */
#define NETPATH_NO_WATCH 0x02u   /* for netpath_reach alone */
#define NETPATH_AFTER_SERVICE 0x04u /* start it only in the place of a service that was there */

struct netpath;

/* Opens a handle, and connects to the service, or starts `netpath watch --json` where there is none.
 *
 * socket: the service's; NULL for that of the system, or that of the user.
 * program: netpath; NULL for $NETPATH_PROGRAM, /usr/bin/netpath or /usr/local/bin/netpath.
 * Returns 0, or -EINVAL, -ENOMEM, -EMFILE, -ENFILE. */
int netpath_open(struct netpath **handle, const char *socket, const char *program, unsigned flags);

/* A descriptor that is readable when netpath_process has something to do. It stays the same; do not close it. */
int netpath_fd(const struct netpath *handle);

/* Does what there is to do. Returns 1 when the path changed or an answer to netpath_reach came, else 0. */
int netpath_process(struct netpath *handle);

/* The present path. Where the service has been silent for a while it is asked whether it is still there, and the answer, or
 * that there is none, shows with netpath_process. size: sizeof(struct netpath_path). Returns 0, or -EINVAL. */
int netpath_current(struct netpath *handle, struct netpath_path *path, size_t size);

/* The present path, if it changed since the last call. Returns 1 if it did, 0 if not, or -EINVAL. */
int netpath_next(struct netpath *handle, struct netpath_path *path, size_t size);

/* Asks whether packets to a host would be sent, without sending any: a name, an address or a URL. Names are looked up.
 * Returns a number above 0 for the question, -EINVAL, -EAGAIN while 16 questions wait, -EPERM after fork(2), -ENOENT without
 * the program, or what starting it fails with. */
int64_t netpath_reach(struct netpath *handle, const char *host);

/* Takes an answer to netpath_reach; ask until there is none. Returns 1, 0 when there is none yet, or -EINVAL. */
int netpath_reached(struct netpath *handle, struct netpath_host *host, size_t size);

/* Takes a question back; its answer never comes, and its process is killed. */
void netpath_cancel(struct netpath *handle, int64_t question);

/* Closes a handle, and kills the processes of its questions; NULL is ignored. */
void netpath_close(struct netpath *handle);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
