// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A program under measurement: started with its output into a pipe, whose lines a thread stamps as they arrive.

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct listener {
    pid_t pid;
    int64_t started;
};

/// What the kernel accounts to a process.
struct account {
    /// Times it went to sleep, and so was woken up.
    long wakeups;
    /// Times it was taken off the processor as well.
    long switches;
    int64_t cpu_nanoseconds;
    long peak_kilobytes;
};

/// Starts a command (of the shell's language); one listener at a time.
struct listener listener_start(const char *command);
/// Waits for its end; returns its peak memory in kilobytes.
long listener_wait(const struct listener *listener);
/// Ends it.
long listener_stop(const struct listener *listener);
/// Reads its accounts, all threads together.
struct account listener_account(const struct listener *listener);

/// Forgets the lines so far: the next one is the one that counts.
void listener_arm(void);
/// Waits for the first line since listener_arm; returns its time of arrival, 0 when none came in time.
int64_t listener_line(int milliseconds);
/// Waits until nothing was written for that long.
void listener_settle(int milliseconds);
