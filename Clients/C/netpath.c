/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { PATH_SIZE = offsetof(struct netpath_path, portal) + 512 };

/* MARK: The path */

static void show(struct netpath *handle, const struct netpath_path *path, uint64_t hash)
{
    if (handle->path.change && hash == handle->hash) return;
    uint64_t change = handle->path.change + 1;
    handle->path = *path;
    handle->path.change = change;
    handle->hash = hash;
}

static void settle(struct netpath *handle)
{
    for (int index = SERVICE; index <= PROGRAM; index++) {
        const struct source *source = &handle->sources[index];
        if (!source->is_live || source->is_starting) continue;
        show(handle, &source->path, source->hash);
        return;
    }
    if (handle->sure_until) {
        if (handle->path.flags & NETPATH_STALE) return;
        struct netpath_path path = handle->path;
        path.flags |= NETPATH_STALE;
        show(handle, &path, ~handle->hash);
        return;
    }
    struct netpath_path path = {0};
    document_copy(path.reason, sizeof path.reason, handle->code);
    document_copy(path.message, sizeof path.message, handle->message);
    uint64_t hash = 0;
    for (const char *code = handle->code; *code; code++) hash = hash * 31 + (unsigned char)*code;
    show(handle, &path, hash);
}

/* MARK: The handle */

int netpath_process(struct netpath *handle)
{
    if (!handle || !handle_is_own(handle)) return 0;
    struct epoll_event events[FIRST_ENDING + ANSWERING];
    int count = epoll_wait(handle->epoll, events, FIRST_ENDING + ANSWERING, 0);
    int64_t now = system_now();
    bool may_be_there = false;
    for (int index = 0; index < count; index++) {
        uint64_t what = events[index].data.u64, expirations;
        char changes[4096];
        if (what <= PROGRAM) {
            source_hear(handle, (int)what, now);
        } else if (what == TIMER) {
            ssize_t taken = read(handle->timer, &expirations, sizeof expirations);
            (void)taken;
            handle->armed = 0;
        } else if (what == FOLDER) {
            may_be_there = handle->folder >= 0 && read(handle->folder, changes, sizeof changes) > 0;
        } else if (what == KERNEL) {
            source_noted(handle, now);
        } else if (what >= FIRST_ENDING) {
            question_end(handle, &handle->endings[what - FIRST_ENDING]);
        } else {
            question_hear(handle, &handle->questions[what - FIRST_QUESTION]);
        }
    }
    struct source *service = &handle->sources[SERVICE];
    if (may_be_there && (service->descriptor < 0 || service->is_silent)) {
        handle_drop(handle, &service->descriptor);
        service->is_silent = false;
        /* Anew, because the folder of the socket may be there by now. */
        handle_drop(handle, &handle->folder);
        service->failures = 0;
        service->retry = now;
    }
    source_expire(handle, now);
    question_expire(handle, now);
    if (!(handle->flags & NETPATH_NO_WATCH)) settle(handle);
    handle_arm(handle);
    for (int index = 0; index < QUESTIONS; index++)
        if (question_is_answered(&handle->questions[index])) return 1;
    return handle->path.change != handle->told;
}

int netpath_open(struct netpath **result, const char *socket, const char *program, unsigned flags)
{
    if (!result || (flags & ~(NETPATH_NO_PROGRAM | NETPATH_NO_WATCH | NETPATH_AFTER_SERVICE))) return -EINVAL;
    struct netpath *handle = calloc(1, sizeof *handle);
    if (!handle) return -ENOMEM;
    handle->flags = flags;
    handle->owner = getpid();
    handle->sources[SERVICE].descriptor = handle->sources[PROGRAM].descriptor = handle->folder = handle->kernel = -1;
    for (int index = 0; index < QUESTIONS; index++)
        handle->questions[index].descriptor = handle->questions[index].process = -1;
    for (int index = 0; index < ANSWERING; index++) handle->endings[index] = -1;
    handle->place_count = system_places(handle->places, socket);
    source_unknown(handle, "noService", "netpath does not run");
    handle->epoll = epoll_create1(EPOLL_CLOEXEC);
    handle->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int status = handle->epoll < 0 || handle->timer < 0 || handle_watch(handle, handle->timer, TIMER) != 0 ? -errno : 0;
    if (status == 0 && program && !(handle->program = strdup(program))) status = -ENOMEM;
    if (status != 0) {
        netpath_close(handle);
        return status;
    }
    if (!(flags & NETPATH_NO_WATCH)) {
        int64_t now = system_now();
        source_note(handle);
        source_connect(handle, now);
        if (handle->sources[SERVICE].busy) handle->sources[PROGRAM].retry = now + PATIENCE;
        else if (handle->sources[SERVICE].descriptor < 0) source_start(handle, now);
        settle(handle);
        handle->told = handle->path.change;
    }
    handle_arm(handle);
    *result = handle;
    return 0;
}

int netpath_fd(const struct netpath *handle)
{
    return handle ? handle->epoll : -1;
}

static int take(struct netpath *handle, struct netpath_path *path, size_t size)
{
    return handle ? handle_copy(path, size, &handle->path, sizeof handle->path, PATH_SIZE) : -EINVAL;
}

int netpath_current(struct netpath *handle, struct netpath_path *path, size_t size)
{
    if (take(handle, path, size) != 0) return -EINVAL;
    int64_t now = system_now();
    if (handle_is_own(handle) && now - handle->sources[SERVICE].heard > SILENCE) {
        source_check(handle, now);
        handle_arm(handle);
    }
    return 0;
}

int netpath_next(struct netpath *handle, struct netpath_path *path, size_t size)
{
    if (take(handle, path, size) != 0) return -EINVAL;
    if (handle->told == handle->path.change) return 0;
    handle->told = handle->path.change;
    return 1;
}

void netpath_close(struct netpath *handle)
{
    if (!handle) return;
    for (int index = 0; index < QUESTIONS; index++) {
        handle_drop(handle, &handle->questions[index].descriptor);
        /* A child of fork(2) leaves its parent's. */
        if (handle_is_own(handle)) system_kill(&handle->questions[index].process);
        else if (handle->questions[index].process >= 0) close(handle->questions[index].process);
        free(handle->questions[index].document);
        free(handle->questions[index].host);
    }
    for (int index = 0; index < ANSWERING; index++) handle_drop(handle, &handle->endings[index]);
    for (int index = SERVICE; index <= PROGRAM; index++) handle_drop(handle, &handle->sources[index].descriptor);
    handle_drop(handle, &handle->folder);
    handle_drop(handle, &handle->kernel);
    handle_drop(handle, &handle->timer);
    if (handle->epoll >= 0) close(handle->epoll);
    free(handle->program);
    free(handle);
}
