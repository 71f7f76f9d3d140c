/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * Where the service and the program are, and how to get at them without waiting.
 */
#ifndef NETPATH_SYSTEM_H
#define NETPATH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a service may answer. */
struct place {
    char path[108]; /* sun_path of unix(7) */
    bool is_named;  /* by the caller, who answers for it */
    bool is_users;  /* below XDG_RUNTIME_DIR */
};

enum connection {
    CONNECTION_MADE, CONNECTION_ABSENT, CONNECTION_REFUSED, CONNECTION_DISTRUSTED, CONNECTION_ELSEWHERE,
    CONNECTION_BUSY /* one is there, and its queue of connections is full at this moment */
};

/* Fills in the places to look at, at most two; returns how many. */
int system_places(struct place places[2], const char *socket);

/* Connects, without waiting. */
enum connection system_connect(const struct place *place, int *descriptor);

/* The program to start; NULL where there is none. */
const char *system_program(const char *program);

/* Starts `program arguments...` apart from the caller: with a session of its own, no descriptor of the caller's, and as a
 * child of init, so that the caller's wait(2) never meets it. Returns what it writes, or a negative errno value. Where
 * `process` is given it is set to a pidfd, or to -1 where there is none. */
int system_start(const char *program, const char *const arguments[], int *process);

/* Kills what system_start started, and closes the pidfd. */
void system_kill(int *process);

/* The monotonic clock in milliseconds. */
int64_t system_now(void);

#endif
