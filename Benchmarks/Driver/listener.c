// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#include "listener.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "change.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived;
static int64_t first_line, last_octet;
static bool is_armed;
static int output = -1;
static pthread_t reader;

// The time is taken when read returns, before anything is locked.
static void *read_lines(void *unused) {
    (void)unused;
    static char buffer[1 << 16];
    ssize_t count;
    while ((count = read(output, buffer, sizeof buffer)) > 0) {
        int64_t time = now();
        pthread_mutex_lock(&lock);
        last_octet = time;
        if (is_armed && first_line == 0 && memchr(buffer, '\n', (size_t)count)) {
            first_line = time;
            pthread_cond_signal(&arrived);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

struct listener listener_start(const char *command) {
    static bool is_initialized;
    if (!is_initialized) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&arrived, &attributes);
        is_initialized = true;
    }
    char script[4096];
    snprintf(script, sizeof script, "exec %s", command);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    output = ends[0];
    listener_arm();
    struct listener listener = {.started = now()};
    listener.pid = vfork();
    if (listener.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (pthread_create(&reader, NULL, read_lines, NULL) != 0) abort();
    return listener;
}

long listener_stop(const struct listener *listener) {
    kill(listener->pid, SIGTERM);
    return listener_wait(listener);
}

long listener_wait(const struct listener *listener) {
    struct rusage usage;
    wait4(listener->pid, NULL, 0, &usage);
    pthread_join(reader, NULL);
    close(output);
    return usage.ru_maxrss;
}

void listener_arm(void) {
    pthread_mutex_lock(&lock);
    first_line = 0;
    last_octet = now();
    is_armed = true;
    pthread_mutex_unlock(&lock);
}

int64_t listener_line(int milliseconds) {
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += milliseconds / 1000;
    limit.tv_nsec += milliseconds % 1000 * 1000000L;
    if (limit.tv_nsec >= 1000000000L) limit.tv_sec++, limit.tv_nsec -= 1000000000L;
    pthread_mutex_lock(&lock);
    while (first_line == 0)
        if (pthread_cond_timedwait(&arrived, &lock, &limit) == ETIMEDOUT) break;
    int64_t time = first_line;
    is_armed = false;
    pthread_mutex_unlock(&lock);
    return time;
}

void listener_settle(int milliseconds) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int64_t rest = last_octet + milliseconds * 1000000LL - now();
        pthread_mutex_unlock(&lock);
        if (rest <= 0) return;
        struct timespec pause = {rest / 1000000000, rest % 1000000000};
        nanosleep(&pause, NULL);
    }
}

static long field(const char *path, const char *name) {
    char line[256];
    long value = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) value = strtol(line + strlen(name), NULL, 10);
    if (file) fclose(file);
    return value;
}

struct account listener_account(const struct listener *listener) {
    struct account account = {0};
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/status", listener->pid);
    account.peak_kilobytes = field(path, "VmHWM:");
    snprintf(path, sizeof path, "/proc/%d/task", listener->pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/status", listener->pid, task->d_name);
        long voluntary = field(path, "voluntary_ctxt_switches:");
        account.wakeups += voluntary;
        account.switches += voluntary + field(path, "nonvoluntary_ctxt_switches:");
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", listener->pid, task->d_name);
        account.cpu_nanoseconds += field(path, "");
    }
    if (tasks) closedir(tasks);
    return account;
}
