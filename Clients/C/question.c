/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#define _GNU_SOURCE
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { HOST_SIZE = offsetof(struct netpath_host, message) + 256 };

/* Ends the program of a question. It counts as one that answers until it has ended. */
static void end(struct netpath *handle, struct question *question)
{
    system_kill(&question->process);
    int slot = 0;
    while (slot < ANSWERING && handle->endings[slot] >= 0) slot++;
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = (uint64_t)(FIRST_ENDING + slot)}};
    if (question->descriptor >= 0 && slot < ANSWERING
        && epoll_ctl(handle->epoll, EPOLL_CTL_MOD, question->descriptor, &event) == 0) {
        handle->endings[slot] = question->descriptor;
        question->descriptor = -1;
    }
    handle_drop(handle, &question->descriptor);
}

void question_end(struct netpath *handle, int *ending)
{
    char rest[4096];
    ssize_t count = *ending < 0 ? 1 : read(*ending, rest, sizeof rest);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) handle_drop(handle, ending);
}

static void answer(
    struct netpath *handle, struct question *question, int32_t status, const char *code, const char *message)
{
    question->answer.status = status;
    document_copy(question->answer.reason, sizeof question->answer.reason, code);
    document_copy(question->answer.message, sizeof question->answer.message, message);
    question->deadline = 0;
    end(handle, question);
    free(question->host);
    question->host = NULL;
    /* Last: the texts may be parts of it. */
    free(question->document);
    question->document = NULL;
}

void question_hear(struct netpath *handle, struct question *question)
{
    unsigned char buffer[4096];
    if (question->descriptor < 0) return;
    ssize_t count = read(question->descriptor, buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        handle_drop(handle, &question->descriptor);
        answer(handle, question, NETPATH_HOST_UNKNOWN, "noAnswer", "netpath ended without an answer");
        return;
    }
    for (ssize_t at = 0; at < count; at++) {
        struct document *document = question->document;
        enum document_result result = document_feed(document, buffer[at]);
        if (result == DOCUMENT_MORE) continue;
        if (result == DOCUMENT_PATH)
            answer(handle, question, document->host, document->path.reason, document->path.message);
        else
            answer(handle, question, NETPATH_HOST_UNKNOWN, "badAnswer", "netpath's answer is not understood");
        return;
    }
}

static int answering(const struct netpath *handle)
{
    int count = 0;
    for (int index = 0; index < QUESTIONS; index++) count += handle->questions[index].descriptor >= 0;
    for (int index = 0; index < ANSWERING; index++) count += handle->endings[index] >= 0;
    return count;
}

static int start(struct netpath *handle, int index, const char *host)
{
    struct question *question = &handle->questions[index];
    const char *path = system_program(handle->program);
    if (!path) return -ENOENT;
    question->document = malloc(sizeof *question->document);
    if (!question->document) return -ENOMEM;
    document_start(question->document);
    const char *const arguments[] = {path, "reach", "--json", "--", host, NULL};
    int descriptor = system_start(path, arguments, &question->process);
    if (descriptor >= 0 && handle_watch(handle, descriptor, (uint64_t)(FIRST_QUESTION + index)) != 0) {
        system_kill(&question->process);
        close(descriptor);
        descriptor = -ENOMEM;
    }
    if (descriptor < 0) {
        free(question->document);
        question->document = NULL;
        return descriptor;
    }
    question->descriptor = descriptor;
    question->deadline = system_now() + QUESTION;
    return 0;
}

/* Has those that wait answered, the oldest first. */
static void start_waiting(struct netpath *handle)
{
    while (answering(handle) < ANSWERING) {
        int first = QUESTIONS;
        for (int index = 0; index < QUESTIONS; index++) {
            const struct question *question = &handle->questions[index];
            if (question->host && (first == QUESTIONS || question->number < handle->questions[first].number)) first = index;
        }
        if (first == QUESTIONS) return;
        struct question *question = &handle->questions[first];
        if (start(handle, first, question->host) != 0)
            answer(handle, question, NETPATH_HOST_UNKNOWN, "noAnswer", "netpath cannot be started");
        free(question->host);
        question->host = NULL;
    }
}

int64_t netpath_reach(struct netpath *handle, const char *host)
{
    if (!handle || !host || !*host || strlen(host) > 2048) return -EINVAL;
    if (!handle_is_own(handle)) return -EPERM;
    int index = 0;
    while (index < QUESTIONS && handle->questions[index].number) index++;
    if (index == QUESTIONS) return -EAGAIN;
    if (!system_program(handle->program)) return -ENOENT;
    struct question *question = &handle->questions[index];
    int status = 0;
    if (answering(handle) < ANSWERING) status = start(handle, index, host);
    else if (!(question->host = strdup(host))) status = -ENOMEM;
    if (status != 0) return status;
    question->number = question->answer.question = ++handle->last_number;
    handle_arm(handle);
    return question->number;
}

bool question_is_answered(const struct question *question)
{
    return question->number && question->descriptor < 0 && !question->host;
}

int netpath_reached(struct netpath *handle, struct netpath_host *host, size_t size)
{
    if (!handle || !host || size < HOST_SIZE) return -EINVAL;
    for (int index = 0; index < QUESTIONS; index++) {
        struct question *question = &handle->questions[index];
        if (!question_is_answered(question)) continue;
        handle_copy(host, size, &question->answer, sizeof question->answer, HOST_SIZE);
        question->number = 0;
        return 1;
    }
    return 0;
}

void netpath_cancel(struct netpath *handle, int64_t number)
{
    if (!handle || number <= 0 || !handle_is_own(handle)) return;
    for (int index = 0; index < QUESTIONS; index++) {
        struct question *question = &handle->questions[index];
        if (question->number != number) continue;
        answer(handle, question, 0, "", "");
        question->number = 0;
    }
    start_waiting(handle);
    handle_arm(handle);
}

void question_expire(struct netpath *handle, int64_t now)
{
    for (int index = 0; index < QUESTIONS; index++) {
        struct question *question = &handle->questions[index];
        if (question->deadline && question->deadline <= now)
            answer(handle, question, NETPATH_HOST_UNKNOWN, "noAnswer", "netpath does not answer");
    }
    start_waiting(handle);
}
