/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

/* MARK: The service's place */

/* Looks for a service that comes; not while one is there, so that nothing wakes the program then. */
static void look(struct netpath *handle)
{
    if (handle->folder >= 0) return;
    handle->folder = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (handle->folder < 0 || handle_watch(handle, handle->folder, FOLDER) != 0) {
        handle_drop(handle, &handle->folder);
        return;
    }
    for (int index = 0; index < handle->place_count; index++) {
        char folder[sizeof handle->places->path];
        memcpy(folder, handle->places[index].path, sizeof folder);
        /* The folder of the socket, or, where there is none, the one that it will be made in. */
        for (int steps = 0; steps < 2; steps++) {
            char *end = strrchr(folder, '/');
            if (!end || end == folder) break;
            *end = 0;
            if (inotify_add_watch(handle->folder, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0) break;
        }
    }
}

static int64_t backoff(unsigned failures, int64_t first)
{
    int64_t pause = first << (failures < 12 ? failures : 12);
    return pause < BACKOFF_LAST ? pause : BACKOFF_LAST;
}

void source_unknown(struct netpath *handle, const char *code, const char *message)
{
    handle->code = code;
    handle->message = message;
}

static void begin(struct netpath *handle, int index, int descriptor, int64_t deadline)
{
    struct source *source = &handle->sources[index];
    source->descriptor = descriptor;
    source->begun = system_now();
    source->deadline = deadline;
    source->retry = 0;
    document_start(&source->document);
    if (handle_watch(handle, descriptor, (uint64_t)index) != 0) handle_drop(handle, &source->descriptor);
}

/* Asks; a service that takes no question does not answer either, and is given up at its deadline. */
void source_ask(struct source *source, const char *line)
{
    ssize_t count = send(source->descriptor, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)count;
}

void source_check(struct netpath *handle, int64_t now)
{
    struct source *service = &handle->sources[SERVICE];
    if (!service->is_live || service->deadline) return;
    source_ask(service, "{\"request\":\"status\"}\n");
    service->deadline = now + CHECK;
}

/* MARK: The kernel */

static void listen_once(struct netpath *handle, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = KERNEL}};
    if (epoll_ctl(handle->epoll, operation, handle->kernel, &event) != 0) handle_drop(handle, &handle->kernel);
}

void source_note(struct netpath *handle)
{
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    int one = 1, size = 32 << 10;
    handle->kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (handle->kernel < 0) return;
    /* That there was one is all that counts. */
    setsockopt(handle->kernel, SOL_NETLINK, NETLINK_NO_ENOBUFS, &one, sizeof one);
    setsockopt(handle->kernel, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (bind(handle->kernel, (struct sockaddr *)&address, sizeof address) == 0) listen_once(handle, EPOLL_CTL_ADD);
    else handle_drop(handle, &handle->kernel);
}

void source_noted(struct netpath *handle, int64_t now)
{
    char first[16];
    /* What comes meanwhile is another reason to look. */
    for (int left = 1024; left > 0 && handle->kernel >= 0; left--)
        if (recv(handle->kernel, first, sizeof first, 0) < 0 && errno != EINTR) break;
    handle->noted = now;
    handle->settled = now + SETTLE;
}

/* MARK: The service */

/* Connects to the first place where a service may answer; returns whether to try again soon where there is none. */
static bool try_places(struct netpath *handle, int64_t now, bool *is_busy)
{
    struct source *service = &handle->sources[SERVICE];
    bool is_worth_retrying = false;
    *is_busy = false;
    for (int index = 0; index < handle->place_count && service->descriptor < 0; index++) {
        int descriptor;
        switch (system_connect(&handle->places[index], &descriptor)) {
        case CONNECTION_MADE:
            begin(handle, SERVICE, descriptor, now + HELLO);
            if (service->descriptor < 0) break;
            source_ask(service, "{\"request\":\"watch\",\"schema\":1}\n");
            source_unknown(handle, "connecting", "netpath's service was asked");
            break;
        case CONNECTION_REFUSED: is_worth_retrying = true; break;
        case CONNECTION_DISTRUSTED:
            source_unknown(handle, "notTrusted", "another user listens on the socket of netpath's service");
            break;
        case CONNECTION_ELSEWHERE:
            source_unknown(handle, "otherNetwork", "netpath's service is in another network namespace");
            break;
        case CONNECTION_BUSY:
            *is_busy = true;
            if (service->busy < BUSY_TRIES) source_unknown(handle, "connecting", "netpath's service is to be asked");
            else source_unknown(handle, "noAnswer", "netpath's service takes no connection");
            break;
        case CONNECTION_ABSENT: break;
        }
    }
    return is_worth_retrying;
}

void source_connect(struct netpath *handle, int64_t now)
{
    struct source *service = &handle->sources[SERVICE];
    service->retry = 0;
    if (service->busy) source_unknown(handle, "noService", "netpath does not run");
    bool is_busy, is_worth_retrying = try_places(handle, now, &is_busy);
    if (service->descriptor < 0 && handle->folder < 0) {
        /* Once more, for one that came before there was a watch. */
        look(handle);
        is_worth_retrying = try_places(handle, now, &is_busy) || handle->folder < 0;
    }
    service->busy = service->descriptor < 0 && is_busy ? service->busy + 1 : 0;
    if (service->busy)
        service->retry = now + backoff(service->busy < BUSY_TRIES ? 0 : service->busy - BUSY_TRIES, BUSY_PAUSE);
    else if (service->descriptor < 0 && is_worth_retrying && handle->place_count)
        service->retry = now + backoff(service->failures++, BACKOFF_FIRST);
}

void source_start(struct netpath *handle, int64_t now)
{
    struct source *program = &handle->sources[PROGRAM];
    program->retry = 0;
    if (handle->flags & NETPATH_NO_PROGRAM) return;
    if (handle->flags & NETPATH_AFTER_SERVICE && !handle->was_served) return;
    const char *path = system_program(handle->program);
    if (!path) return;
    const char *const arguments[] = {path, "watch", "--json", NULL};
    int descriptor = system_start(path, arguments, NULL);
    if (descriptor >= 0) begin(handle, PROGRAM, descriptor, now + PROGRAM_HELLO);
    if (program->descriptor < 0) program->retry = now + backoff(program->failures++, BACKOFF_BAD);
}

/* MARK: Sources */

static void stop(struct netpath *handle, struct source *source)
{
    handle_drop(handle, &source->descriptor);
    source->is_live = source->is_silent = source->is_starting = false;
    source->deadline = source->retry = 0;
}

static bool has_told(const struct source *source)
{
    return source->is_live && !source->is_starting;
}

/* What is known without the service from now on. */
static void stand_in(struct netpath *handle, int64_t now, bool was_live)
{
    struct source *program = &handle->sources[PROGRAM];
    if (was_live) handle->sure_until = now + GRACE;
    look(handle);
    if (program->descriptor < 0 && !program->retry) program->retry = was_live ? now + PATIENCE : now;
}

/* A service that is stopped answers when it goes on, so its connection stays: nothing is to be tried again and again. */
static void wait_for_service(struct netpath *handle, int64_t now)
{
    struct source *service = &handle->sources[SERVICE];
    bool was_live = has_told(service);
    service->is_live = service->is_starting = false;
    service->is_silent = true;
    service->deadline = 0;
    stand_in(handle, now, was_live);
}

static void lose(struct netpath *handle, int index, int64_t now, bool is_bad)
{
    struct source *source = &handle->sources[index];
    bool was_live = has_told(source);
    stop(handle, source);
    if (was_live && !is_bad && now - source->begun > STEADY) source->failures = 0;
    int64_t first = is_bad ? BACKOFF_BAD : BACKOFF_FIRST;
    if (index == PROGRAM) first = was_live ? BACKOFF_PROGRAM : BACKOFF_BAD;
    source->retry = now + backoff(source->failures++, first);
    if (index == SERVICE) stand_in(handle, now, was_live);
    else if (was_live) handle->sure_until = now + GRACE;
}

static void told(struct netpath *handle, int index, int64_t now)
{
    struct source *source = &handle->sources[index], *program = &handle->sources[PROGRAM];
    bool is_first = !source->is_live;
    source->is_live = true;
    source->is_silent = false;
    source->heard = now;
    source->deadline = 0;
    source->path = source->document.path;
    source->hash = source->document.hash;
    if (index == SERVICE) {
        handle->was_served = true;
        handle_drop(handle, &handle->folder);
        /* One that has just started knows nothing for some milliseconds. */
        bool is_unknown = source->path.status == NETPATH_UNKNOWN;
        source->is_starting = is_unknown && (source->is_starting || (is_first && (handle->sure_until || program->is_live)));
        if (source->is_starting) {
            if (!handle->sure_until) handle->sure_until = now + GRACE;
            return;
        }
        stop(handle, program);
        program->failures = 0;
    }
    handle->sure_until = 0;
}

/* It is there, and has no room yet: a program stands in until it has. */
static void refuse(struct netpath *handle)
{
    handle->was_served = true;
    source_unknown(handle, "refused", "netpath's service takes no more connections of this user");
}

void source_hear(struct netpath *handle, int index, int64_t now)
{
    struct source *source = &handle->sources[index];
    unsigned char buffer[4096];
    for (int left = PORTION; left > 0 && source->descriptor >= 0;) {
        ssize_t count = read(source->descriptor, buffer, sizeof buffer);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (count <= 0) {
            if (index == SERVICE) source_unknown(handle, "noService", "netpath does not run");
            lose(handle, index, now, false);
            break;
        }
        left -= (int)count;
        for (ssize_t at = 0; at < count; at++) {
            enum document_result result = document_feed(&source->document, buffer[at]);
            if (result == DOCUMENT_MORE) continue;
            if (result == DOCUMENT_PATH) {
                told(handle, index, now);
                continue;
            }
            if (result == DOCUMENT_NEWER)
                source_unknown(handle, "newerVersion", "netpath is newer than this library understands");
            else if (result == DOCUMENT_REFUSED && index == SERVICE)
                refuse(handle);
            else
                source_unknown(handle, "badAnswer", "what answers in netpath's place is not netpath");
            lose(handle, index, now, true);
            break;
        }
        if (count < (ssize_t)sizeof buffer) break;
    }
    /* A line that was begun has to end, too. */
    if ((source->is_live || source->is_silent) && !source->deadline && source->document.size) source->deadline = now + LINE;
}

void source_expire(struct netpath *handle, int64_t now)
{
    for (int index = SERVICE; index <= PROGRAM; index++) {
        struct source *source = &handle->sources[index];
        if (source->deadline && source->deadline <= now) {
            source_unknown(handle, "noAnswer", "netpath does not answer");
            if (index == SERVICE && !source->document.size) wait_for_service(handle, now);
            else lose(handle, index, now, true);
        }
    }
    struct source *service = &handle->sources[SERVICE], *program = &handle->sources[PROGRAM];
    if (handle->settled && handle->settled <= now) {
        handle->settled = 0;
        if (service->heard < handle->noted) source_check(handle, now);
        if (handle->kernel >= 0) listen_once(handle, EPOLL_CTL_MOD);
    }
    if (handle->sure_until && handle->sure_until <= now) {
        handle->sure_until = 0;
        if (service->is_starting) {
            service->is_starting = false;
            stop(handle, program);
        }
    }
    if (service->retry && service->retry <= now) source_connect(handle, now);
    if (program->retry && program->retry <= now) source_start(handle, now);
}
