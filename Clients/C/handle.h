/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * The handle: two sources of paths, the service and a program that stands in for it, and the questions about hosts. Times in
 * milliseconds; 0 is no time.
 */
#ifndef NETPATH_HANDLE_H
#define NETPATH_HANDLE_H

#include "document.h"
#include "system.h"

#include <sys/types.h>

enum {
    /* What never answers is given up. */
    HELLO = 1000, PROGRAM_HELLO = 5000, CHECK = 1000, LINE = 5000, QUESTION = 20000,
    /* How long the service has to be silent before a program that asks for the path has it asked. */
    SILENCE = 2000,
    /* How long the last path stands, marked stale, while the service is started anew. */
    GRACE = 700,
    /* When a program is started in its place. */
    PATIENCE = 400,
    /* A source that lived so long was no failure. */
    STEADY = 5000,
    /* A service whose queue of connections is full is tried again so often every so many milliseconds, then ever later. */
    BUSY_TRIES = 50, BUSY_PAUSE = 4,
    BACKOFF_FIRST = 20, BACKOFF_PROGRAM = 100, BACKOFF_BAD = 1000, BACKOFF_LAST = 30000,
    /* How long the service has to tell of what the kernel told the client of, until it is asked whether it still answers. */
    SETTLE = 500,
    QUESTIONS = 16,
    /* So many programs answer at once. */
    ANSWERING = 4,
    /* Bytes that one call reads of one source, so that a source that never stops does not keep the caller. */
    PORTION = 256 << 10
};

enum { SERVICE, PROGRAM, TIMER, FOLDER, KERNEL, FIRST_QUESTION, FIRST_ENDING = FIRST_QUESTION + QUESTIONS };

struct source {
    int descriptor;
    bool is_live;     /* has told a path, and has not ended */
    bool is_silent;   /* did not answer; is right again once it does */
    bool is_starting; /* has no path yet, and what was known before stands */
    int64_t deadline; /* by when it has to have ended a line */
    int64_t begun, heard;
    int64_t retry;    /* when to try again */
    unsigned failures;
    unsigned busy;    /* how often in a row its queue of connections was full */
    struct document document;
    struct netpath_path path;
    uint64_t hash;
};

struct question {
    int64_t number; /* 0: free */
    int descriptor; /* -1: waits, or is answered */
    int process;    /* a pidfd, or -1 */
    char *host;     /* of one that waits */
    int64_t deadline;
    struct document *document;
    struct netpath_host answer;
};

struct netpath {
    unsigned flags;
    pid_t owner; /* a child of fork(2) has a copy, whose descriptors and timer are those of its parent */
    bool was_served; /* whether a service was there */
    int epoll, timer, folder, kernel;
    int64_t noted, settled; /* when the kernel told of a change, and when it is looked at again */
    int64_t armed;
    int64_t sure_until; /* when the last path of a service that has gone ends to stand */
    struct place places[2];
    int place_count;
    char *program;
    const char *code, *message; /* why nothing is known */
    struct source sources[2];
    struct netpath_path path;
    uint64_t hash, told;
    int64_t last_number;
    struct question questions[QUESTIONS];
    int endings[ANSWERING]; /* the outputs of programs that were killed and have not ended yet, or -1 */
};

/* MARK: handle.c */

int handle_watch(struct netpath *handle, int descriptor, uint64_t what);
void handle_drop(struct netpath *handle, int *descriptor);
/* Whether this is the process that opened it. */
bool handle_is_own(const struct netpath *handle);
/* Sets the timer to what is due next. */
void handle_arm(struct netpath *handle);
/* Copies a structure, for programs that were built with an earlier or a later netpath.h. */
int handle_copy(void *to, size_t size, const void *from, size_t own, size_t least);

/* MARK: source.c */

void source_connect(struct netpath *handle, int64_t now);
void source_start(struct netpath *handle, int64_t now);
void source_hear(struct netpath *handle, int index, int64_t now);
void source_expire(struct netpath *handle, int64_t now);
void source_ask(struct source *source, const char *line);
/* Asks a service that said nothing lately whether it still answers. */
void source_check(struct netpath *handle, int64_t now);
/* Has the kernel tell of changes. Without one the client knows of a service that has stopped only once it asks. */
void source_note(struct netpath *handle);
/* Takes what the kernel told. */
void source_noted(struct netpath *handle, int64_t now);
/* Says why nothing is known. */
void source_unknown(struct netpath *handle, const char *code, const char *message);

/* MARK: question.c */

void question_hear(struct netpath *handle, struct question *question);
/* A program whose answer is not wanted any more has ended. */
void question_end(struct netpath *handle, int *ending);
void question_expire(struct netpath *handle, int64_t now);
bool question_is_answered(const struct question *question);

#endif
