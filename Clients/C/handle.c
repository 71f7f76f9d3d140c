/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

int handle_watch(struct netpath *handle, int descriptor, uint64_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = what}};
    return epoll_ctl(handle->epoll, EPOLL_CTL_ADD, descriptor, &event);
}

bool handle_is_own(const struct netpath *handle)
{
    return handle->owner == getpid();
}

/* A copy that a child of fork(2) has would keep it in the set; and the child is to leave it in. */
void handle_drop(struct netpath *handle, int *descriptor)
{
    if (*descriptor < 0) return;
    if (handle_is_own(handle)) epoll_ctl(handle->epoll, EPOLL_CTL_DEL, *descriptor, NULL);
    close(*descriptor);
    *descriptor = -1;
}

static void sooner(int64_t *first, int64_t time)
{
    if (time && (!*first || time < *first)) *first = time;
}

void handle_arm(struct netpath *handle)
{
    int64_t next = handle->sure_until;
    sooner(&next, handle->settled);
    for (int index = SERVICE; index <= PROGRAM; index++) {
        sooner(&next, handle->sources[index].deadline);
        sooner(&next, handle->sources[index].retry);
    }
    for (int index = 0; index < QUESTIONS; index++) sooner(&next, handle->questions[index].deadline);
    if (next == handle->armed) return;
    struct itimerspec time = {.it_value = {next / 1000, next % 1000 * 1000000}};
    timerfd_settime(handle->timer, TFD_TIMER_ABSTIME, &time, NULL);
    handle->armed = next;
}

int handle_copy(void *to, size_t size, const void *from, size_t own, size_t least)
{
    if (!to || size < least) return -EINVAL;
    memset(to, 0, size);
    memcpy(to, from, size < own ? size : own);
    return 0;
}
