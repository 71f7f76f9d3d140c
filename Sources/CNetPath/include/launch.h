// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/// What a child process is made of.
struct netpath_launch {
    /// A descriptor of the program (O_PATH), or -1 to execute `path`.
    int program;
    const char *path;
    char *const *arguments;
    char *const *environment;
    /// What becomes its standard input, output and error.
    int input, output, errors;
    /// Whether the next four count: who it runs as.
    int changes_identity;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
    /// The most writable memory in bytes, and the most open files and processes; 0 for as much as there is.
    unsigned long memory, files, processes;
    /// Whether it may gain privileges, by executing a program that has some.
    int may_gain_privileges;
    /// Whether it keeps the working folder and the file mode mask of the calling process.
    int keeps_place;
};

/// What was tried when a launch failed.
enum netpath_launch_step {
    NETPATH_LAUNCH_FORK,
    NETPATH_LAUNCH_PREPARE,
    NETPATH_LAUNCH_LIMIT,
    NETPATH_LAUNCH_IDENTITY,
    NETPATH_LAUNCH_PRIVILEGES,
    NETPATH_LAUNCH_EXECUTE,
};

/// What a supervisor is told by SIGTERM and by NETPATH_LAUNCH_KILL: to ask what it supervises to end, and to end it.
#define NETPATH_LAUNCH_KILL SIGUSR1

/// What a supervisor writes to standard error where the program left a process behind that had a group of its own: a daemon.
#define NETPATH_LAUNCH_LEFT_GROUP "netpath: it left a process in a group of its own, which was ended"

/// Starts a program as the leader of a session and a process group of its own, which dies with the calling thread.
///
/// Returns 0 and sets `process`, or the error number, and sets `step`. The process is the program's supervisor: that adopts
/// what the program leaves behind, sessions of their own included, ends it with the program, and then ends as the program
/// did. Only what other users run it may be unable to end.
int netpath_launch(const struct netpath_launch *launch, pid_t *process, int *step);

/// Makes a pipe that no other child gets: the end to read from first; -1 on an error.
int netpath_pipe(int ends[2]);

/// A descriptor that becomes readable when a child ends (pidfd_open(2)); -1 when the kernel has none.
int netpath_process_descriptor(pid_t process);

/// Opens a step of a path, or the path itself, without following a last symbolic link; -1 on an error.
int netpath_open_step(int folder, const char *name);

/// Whether the process has more rights than the user who started it, or all (AT_SECURE).
int netpath_is_secure(void);

/// Makes this process the parent of what its children leave behind, sessions of their own included; -1 on an error.
int netpath_adopt_orphans(void);
