/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#define _GNU_SOURCE
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int64_t system_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* MARK: The service */

int system_places(struct place places[2], const char *socket)
{
    memset(places, 0, 2 * sizeof *places);
    int count = 0;
    if (socket) {
        if (!*socket || strlen(socket) >= sizeof places->path) return 0;
        places[count].is_named = true;
        strcpy(places[count++].path, socket);
        return count;
    }
    strcpy(places[count++].path, "/run/netpath/netpath.sock");
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/') {
        int length = snprintf(places[count].path, sizeof places->path, "%s/netpath/netpath.sock", runtime);
        places[count].is_users = true;
        if (length > 0 && (size_t)length < sizeof places->path) count++;
    }
    return count;
}

/* The service runs as root, or as the user who owns the folder of the socket; a user's as that user. */
static bool is_trusted(const struct place *place, int descriptor)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
    if (peer.uid == 0 || peer.uid == geteuid()) return true;
    if (place->is_users) return false;
    char folder[sizeof place->path];
    memcpy(folder, place->path, sizeof folder);
    char *end = strrchr(folder, '/');
    struct stat status;
    if (!end || end == folder) return false;
    *end = 0;
    return stat(folder, &status) == 0 && peer.uid == status.st_uid;
}

/* Whether who listens there does so in the network namespace of this thread: only its sockets are listed. A service that
 * speaks of another network is none. */
static bool is_here(const char *path)
{
    FILE *list = fopen("/proc/thread-self/net/unix", "re");
    if (!list) return true;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    bool is_found = false;
    while (!is_found && (length = getline(&line, &size, list)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        unsigned flags;
        int at = 0;
        bool listens = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) == 1 && at && (flags & 0x10000);
        is_found = listens && strcmp(line + at, path) == 0;
    }
    free(line);
    fclose(list);
    return is_found;
}

enum connection system_connect(const struct place *place, int *descriptor)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, place->path, sizeof address.sun_path);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) return CONNECTION_REFUSED;
    enum connection result = CONNECTION_MADE;
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        result = errno == ENOENT || errno == ENOTDIR ? CONNECTION_ABSENT
            : errno == EAGAIN ? CONNECTION_BUSY : CONNECTION_REFUSED;
    else if (!is_trusted(place, connection)) result = CONNECTION_DISTRUSTED;
    else if (!place->is_named && !is_here(place->path)) result = CONNECTION_ELSEWHERE;
    if (result == CONNECTION_MADE) *descriptor = connection;
    else close(connection);
    return result;
}

/* MARK: The program */

const char *system_program(const char *program)
{
    if (!program) program = secure_getenv("NETPATH_PROGRAM");
    if (program) return *program == '/' && access(program, X_OK) == 0 ? program : NULL;
    static const char *const usual[] = {"/usr/bin/netpath", "/usr/local/bin/netpath"};
    for (size_t index = 0; index < sizeof usual / sizeof *usual; index++)
        if (access(usual[index], X_OK) == 0) return usual[index];
    return NULL;
}

enum { STACK = 32 << 10 };

struct job {
    const char *program;
    char *const *arguments;
    char *stack;
    int output, null;
    volatile pid_t process;
};

static int run(void *context)
{
    const struct job *job = context;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (chdir("/") != 0) _exit(127);
    /* Neither is below 3: see system_start. */
    dup2(job->null, 0);
    dup2(job->output, 1);
    dup2(job->null, 2);
    if (close_range(3, ~0u, 0) != 0)
        for (int number = 3; number < 1024; number++) close(number);
    execve(job->program, job->arguments, environ);
    _exit(127);
}

static int part(void *context)
{
    struct job *job = context;
    /* SIGCHLD goes to init. */
    job->process = clone(run, job->stack + 2 * STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, job);
    _exit(0);
}

static int above_standard(int descriptor)
{
    if (descriptor < 0 || descriptor > 2) return descriptor;
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    close(descriptor);
    return other;
}

/* A pidfd of a process that init may have reaped by now: while its output is open the number is still that of the process. */
static int still_there(pid_t process, int input)
{
    int descriptor = process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    struct pollfd ended = {input, 0, 0};
    if (descriptor < 0 || poll(&ended, 1, 0) == 0) return descriptor;
    close(descriptor);
    return -1;
}

void system_kill(int *process)
{
    if (*process < 0) return;
    syscall(SYS_pidfd_send_signal, *process, SIGKILL, NULL, 0);
    close(*process);
    *process = -1;
}

int system_start(const char *program, const char *const arguments[], int *process)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    int input = ends[0], output = above_standard(ends[1]);
    int null = above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
    char *stack = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int result = -ENOMEM;
    pid_t started = 0;
    if (output < 0 || null < 0) {
        result = -EMFILE;
    } else if (stack != MAP_FAILED) {
        struct job job = {program, (char *const *)(uintptr_t)arguments, stack, output, null, 0};
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        /* With no signal at its end, wait(2) of the program does not see it (__WCLONE). */
        int child = clone(part, stack + STACK, CLONE_VM | CLONE_VFORK, &job);
        result = child < 0 ? -errno : 0;
        if (child > 0)
            while (waitpid(child, NULL, (int)__WCLONE) < 0 && errno == EINTR) continue;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        started = job.process;
    }
    if (stack != MAP_FAILED) munmap(stack, 2 * STACK);
    if (output >= 0) close(output);
    if (null >= 0) close(null);
    if (result == 0 && fcntl(input, F_SETFL, O_NONBLOCK) == 0) {
        if (process) *process = still_there(started, input);
        return input;
    }
    close(input);
    return result ? result : -EINVAL;
}
