/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * Prints the path and every change, as an example: cc follow.c $(pkg-config --cflags --libs netpath)
 */
#include <netpath.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(void)
{
    static const char *const words[] = {"unknown", "unsatisfied", "requiresConnection", "satisfied"};
    struct netpath *handle;
    struct netpath_path path;
    int status = netpath_open(&handle, NULL, NULL, 0);
    if (status != 0) {
        fprintf(stderr, "netpath: %s\n", strerror(-status));
        return 1;
    }
    netpath_current(handle, &path, sizeof path);
    do {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        printf("%lld.%06ld %s%s %s: %s\n", (long long)now.tv_sec, now.tv_nsec / 1000, words[path.status],
               path.flags & NETPATH_STALE ? " (stale)" : "", path.reason, path.message);
        fflush(stdout);
        while (netpath_next(handle, &path, sizeof path) == 0) {
            struct pollfd ready = {.fd = netpath_fd(handle), .events = POLLIN};
            poll(&ready, 1, -1);
            netpath_process(handle);
        }
    } while (!ferror(stdout));
    netpath_close(handle);
    return 0;
}
