/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * How a toolkit's monitor begins: with the service where it answers at once, else not at all, so that the toolkit takes its
 * own. Not part of the library.
 */
#ifndef NETPATH_BEGIN_H
#define NETPATH_BEGIN_H

#include "netpath.h"

#include <poll.h>
#include <string.h>
#include <time.h>

/* In milliseconds: how long a program waits at its start for a service that is there and says nothing; once. */
enum { BEGIN_PATIENCE = 100 };

static inline long long begin_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Opens a handle, and takes the first path. Returns 0, a negative errno value, or 1 where netpath is not to be asked: the
 * path says why. A service that has no room for another connection is there: the library goes on without it. */
static inline int begin(struct netpath **handle, struct netpath_path *path)
{
    int status = netpath_open(handle, NULL, NULL, NETPATH_AFTER_SERVICE);
    if (status != 0) return status;
    long long end = begin_now() + BEGIN_PATIENCE, left;
    netpath_current(*handle, path, sizeof *path);
    while ((!strcmp(path->reason, "connecting") || !strcmp(path->reason, "refused")) && (left = end - begin_now()) > 0) {
        struct pollfd ready = {netpath_fd(*handle), POLLIN, 0};
        poll(&ready, 1, (int)left);
        netpath_process(*handle);
        netpath_next(*handle, path, sizeof *path);
    }
    if (path->status != NETPATH_UNKNOWN || !strcmp(path->reason, "noVerdict") || !strcmp(path->reason, "refused")) return 0;
    netpath_close(*handle);
    *handle = NULL;
    return 1;
}

#endif
