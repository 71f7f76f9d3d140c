// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Between fork(2) and execve(2) nothing may run that takes a lock another thread could have held, as Swift's runtime does
// at any place; and posix_spawn(3) sets neither limits nor privileges. Hence C.

#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif
#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_CLEAR_ALL 4
#endif

struct failure {
    int step, number;
};

static void fail(int report, int step) {
    struct failure failure = {step, errno};
    ssize_t written = write(report, &failure, sizeof failure);
    (void)written;
    _exit(127);
}

// Lowered, never raised.
static int limit(int resource, unsigned long value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value) limit.rlim_max = value;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    return setrlimit(resource, &limit);
}

static void close_others(int first) {
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    struct rlimit limit;
    long end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (long)limit.rlim_cur : 65536;
    for (int number = first; number < end; number++) {
        int flags = fcntl(number, F_GETFD);
        if (flags >= 0) fcntl(number, F_SETFD, flags | FD_CLOEXEC);
    }
}

static void reset_signals(void) {
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
    }
}

static void run(const struct netpath_launch *launch, pid_t parent, int report) {
    reset_signals();
    setsid();

    // Out of the way of the numbers that they become.
    int ends[] = {launch->input, launch->output, launch->errors};
    for (int index = 0; index < 3; index++) {
        ends[index] = fcntl(ends[index], F_DUPFD_CLOEXEC, 10);
        if (ends[index] < 0) fail(report, NETPATH_LAUNCH_PREPARE);
    }
    int program = launch->program;
    if (program >= 0 && (program = fcntl(program, F_DUPFD_CLOEXEC, 10)) < 0) fail(report, NETPATH_LAUNCH_PREPARE);
    if ((report = fcntl(report, F_DUPFD_CLOEXEC, 10)) < 0) _exit(127);
    for (int index = 0; index < 3; index++) {
        if (dup2(ends[index], index) < 0) fail(report, NETPATH_LAUNCH_PREPARE);
    }
    close_others(3);
    if (!launch->keeps_place) {
        umask(022);
        if (chdir("/") != 0) fail(report, NETPATH_LAUNCH_PREPARE);
    }

    if ((launch->memory && (limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_DATA, launch->memory) != 0))
        || (launch->files && limit(RLIMIT_NOFILE, launch->files) != 0)
        || (launch->processes && limit(RLIMIT_NPROC, launch->processes) != 0))
        fail(report, NETPATH_LAUNCH_LIMIT);

    // The calls themselves: the library's would tell other threads, of which a child has none.
    if (launch->changes_identity
        && (syscall(SYS_setgroups, launch->group_count, launch->groups) != 0
            || syscall(SYS_setresgid, launch->group, launch->group, launch->group) != 0
            || syscall(SYS_setresuid, launch->user, launch->user, launch->user) != 0))
        fail(report, NETPATH_LAUNCH_IDENTITY);

    // A kernel without ambient capabilities has none to pass on.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (!launch->may_gain_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        fail(report, NETPATH_LAUNCH_PRIVILEGES);
    // Last, since a change of identity takes it back.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(report, NETPATH_LAUNCH_PREPARE);
    if (getppid() != parent) _exit(127);

    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (program < 0) {
        execve(launch->path, launch->arguments, launch->environment);
    } else {
        syscall(SYS_execveat, program, "", launch->arguments, launch->environment, AT_EMPTY_PATH);
        // A script is opened once more by its interpreter, through the descriptor (execveat(2), BUGS).
        if (errno == ENOENT && fcntl(program, F_SETFD, 0) == 0)
            syscall(SYS_execveat, program, "", launch->arguments, launch->environment, AT_EMPTY_PATH);
    }
    fail(report, NETPATH_LAUNCH_EXECUTE);
}

// MARK: The supervisor

// A number of /proc/PID/stat; the position moves behind it.
static long number_at(const char **position) {
    while (**position == ' ') ++*position;
    long value = 0;
    while (**position >= '0' && **position <= '9') value = value * 10 + *(*position)++ - '0';
    return value;
}

// Whether a process is a child of ours, and of which process group.
static int is_child(const char *name, pid_t *group) {
    char path[32] = "/proc/", text[512];
    size_t length = strlen(name);
    if (length > 10) return 0;
    memcpy(path + 6, name, length);
    memcpy(path + 6 + length, "/stat", 6);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    // A name may hold anything, parentheses too; the state follows the last one.
    const char *position = strrchr(text, ')');
    if (!position || strlen(position) < 4) return 0;
    position += 3;
    pid_t parent = (pid_t)number_at(&position);
    *group = (pid_t)number_at(&position);
    return parent == getpid();
}

// Sends a signal to the children there are but for those of a group, and returns whether there were any. Without
// opendir(3), which allocates.
static int signal_children(int number, pid_t except) {
    struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    _Alignas(struct entry) char room[4096];
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 0;
    int found = 0;
    long count;
    while ((count = syscall(SYS_getdents64, folder, room, sizeof room)) > 0) {
        for (long offset = 0; offset < count;) {
            const struct entry *entry = (const struct entry *)(room + offset);
            offset += entry->length;
            pid_t group;
            if (entry->name[0] < '1' || entry->name[0] > '9' || !is_child(entry->name, &group)) continue;
            if (group == except) continue;
            found = 1;
            kill((pid_t)atoi(entry->name), number);
        }
    }
    close(folder);
    return found;
}

static void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

// Runs the program as a child, adopts whatever loses its parent below, and ends all of it. With every signal blocked.
static void supervise(const struct netpath_launch *launch, pid_t parent, int report) {
    reset_signals();
    setsid();
    prctl(PR_SET_NAME, "netpath-exec");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, NETPATH_LAUNCH_KILL) != 0)
        fail(report, NETPATH_LAUNCH_PREPARE);
    if (getppid() != parent) _exit(127);
    pid_t self = getpid();
    // Without what other threads' locks would need, which fork(2) of a child does not know.
    pid_t child = _Fork();
    if (child < 0) fail(report, NETPATH_LAUNCH_FORK);
    if (child == 0) run(launch, self, report);
    if (dup2(launch->errors, STDERR_FILENO) < 0) close(STDERR_FILENO);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0)
        for (int number = 3; number < 65536; number++) close(number);

    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, NETPATH_LAUNCH_KILL);
    int status = 0, is_over = 0, was_told = 0, left_group = 0;
    while (!is_over) {
        int ended;
        pid_t process;
        while ((process = waitpid(-1, &ended, WNOHANG)) > 0) {
            if (process != child) continue;
            status = ended;
            is_over = 1;
        }
        if (is_over) break;
        int number = sigwaitinfo(&awaited, NULL);
        if (number == SIGTERM) {
            was_told = 1;
            kill(-child, SIGTERM);
            // One that was stopped would not hear of it.
            kill(-child, SIGCONT);
            left_group |= signal_children(SIGTERM, child);
        } else if (number == NETPATH_LAUNCH_KILL) {
            was_told = 1;
            break;
        }
    }

    // A process that loses its parent becomes a child of ours, until there is none any more.
    const struct timespec pause = {0, 5 * 1000 * 1000};
    int was_killed = 0, turn = 0;
    for (; turn < 400; turn++) {
        int ended;
        pid_t process;
        while ((process = waitpid(-1, &ended, WNOHANG)) > 0) {
            if (process == child) status = ended;
            else if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL) was_killed = 1;
        }
        if (process < 0 && errno == ECHILD) break;
        // What it started itself and has in its group ends with it in the best of programs; a daemon is meant to stay.
        if (turn == 0) left_group |= signal_children(SIGKILL, child);
        signal_children(SIGKILL, 0);
        sigtimedwait(&awaited, NULL, &pause);
    }
    if (left_group) say(NETPATH_LAUNCH_LEFT_GROUP "\n");
    if (turn == 400) say("netpath: what it left behind could not be ended\n");
    else if (was_killed && !was_told) say("netpath: what it left behind was ended\n");

    if (WIFSIGNALED(status)) {
        limit(RLIMIT_CORE, 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        kill(self, WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

int netpath_launch(const struct netpath_launch *launch, pid_t *process, int *step) {
    *step = NETPATH_LAUNCH_FORK;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return errno;
    pid_t parent = getpid();
    // No handler of ours may run in the child.
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pid_t child = fork();
    int number = errno;
    if (child == 0) supervise(launch, parent, report[1]);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        return number;
    }
    struct failure failure;
    ssize_t count;
    // Ends with the execution, which closes the other end.
    do count = read(report[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count == sizeof failure) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        *step = failure.step;
        return failure.number;
    }
    *process = child;
    return 0;
}

int netpath_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int netpath_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int netpath_open_step(int folder, const char *name) {
    return openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int netpath_is_secure(void) { return getauxval(AT_SECURE) != 0; }

int netpath_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }
