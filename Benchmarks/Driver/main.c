// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Measures listeners in this network namespace. Writes one raw value per line: measurement, listener, value.
// Listeners take turns in every round and run alone, because the kernel serves the first one to join first and there
// may be fewer processors than listeners.

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "change.h"
#include "listener.h"

/// How long silence lasts before a listener is taken to have said all it had to say.
enum { quiet = 10, patience = 250 };

static void record(const char *measurement, const char *name, double value) {
    printf("%s\t%s\t%.3f\n", measurement, name, value);
}

/// Splits NAME=COMMAND.
static const char *command_of(char *argument) {
    char *equals = strchr(argument, '=');
    if (!equals) exit(64);
    *equals = 0;
    return equals + 1;
}

static void measure(const char *measurement, const char *name, void (*change)(bool), bool to) {
    listener_settle(quiet);
    listener_arm();
    int64_t start = now();
    change(to);
    int64_t line = listener_line(patience);
    if (measurement) record(measurement, name, line ? (double)(line - start) / 1000 : -1);
}

static struct listener start(const char *command) {
    struct listener listener = listener_start(command);
    listener_line(1000);
    listener_settle(100);
    return listener;
}

static void latency(const char *name, const char *command, int events) {
    struct listener listener = start(command);
    for (int i = -3; i < events; i++) {
        measure(i < 0 ? NULL : "latency route removed", name, change_default_route, false);
        measure(i < 0 ? NULL : "latency route restored", name, change_default_route, true);
    }
    for (int i = 0; i < (events + 9) / 10; i++) {
        measure("latency address added", name, change_address, true);
        measure("latency address removed", name, change_address, false);
        measure("latency link down", name, change_link, false);
        measure("latency link up", name, change_link, true);
        listener_settle(quiet);
        change_default_route(true);
        // The kernel moves an interface's operational state with a delay.
        listener_settle(20);
    }
    listener_stop(&listener);
}

static void storm(const char *name, const char *command, int count) {
    struct listener listener = start(command);
    struct account before = listener_account(&listener);
    int64_t begin = now();
    change_host_routes(true, (uint32_t)count / 2);
    change_host_routes(false, (uint32_t)count / 2);
    record("storm seconds", name, (double)(now() - begin) / 1e9);
    // From now on: those that are to be silent about all this must not be taken at their word yet.
    listener_arm();
    listener_settle(300);
    struct account after = listener_account(&listener);
    record("storm wake-ups", name, (double)(after.wakeups - before.wakeups));
    record("storm CPU ms", name, (double)(after.cpu_nanoseconds - before.cpu_nanoseconds) / 1e6);
    record("storm peak memory grown kB", name, (double)(after.peak_kilobytes - before.peak_kilobytes));
    listener_arm();
    change_default_route(false);
    record("storm hears afterwards", name, listener_line(2000) != 0);
    change_default_route(true);
    listener_stop(&listener);
}

static void idle(const char *name, const char *command, int seconds) {
    struct listener listener = start(command);
    listener_settle(3000);
    struct account before = listener_account(&listener);
    sleep((unsigned)seconds);
    struct account after = listener_account(&listener);
    record("idle context switches", name, (double)(after.switches - before.switches));
    listener_stop(&listener);
}

static void startup(const char *name, const char *command, int count) {
    for (int i = 0; i < count; i++) {
        struct listener listener = listener_start(command);
        int64_t line = listener_line(2000);
        record("start to first line", name, line ? (double)(line - listener.started) / 1000 : -1);
        listener_stop(&listener);
    }
}

static void memory(const char *name, const char *command, int events) {
    struct listener listener = start(command);
    for (int i = 0; i < events; i++) {
        measure(NULL, name, change_default_route, false);
        measure(NULL, name, change_default_route, true);
    }
    record("peak memory kB", name, (double)listener_stop(&listener));
}

static void links(const char *name, const char *command, int events) {
    struct listener listener = start(command);
    struct account before = listener_account(&listener);
    for (int i = 0; i < events; i++) {
        change_mtu("if1", 1300 + (unsigned)i % 2);
        // Far enough apart that each is dealt with by itself.
        struct timespec pause = {.tv_nsec = 300000};
        nanosleep(&pause, NULL);
    }
    listener_settle(50);
    struct account after = listener_account(&listener);
    record("link event CPU us", name, (double)(after.cpu_nanoseconds - before.cpu_nanoseconds) / 1e3 / events);
    listener_stop(&listener);
}

/// Needs malloc-count.so preloaded by the command, which counts into the file.
static void allocations(const char *name, const char *command, int events) {
    const char *path = getenv("MALLOC_COUNT_FILE");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, 4096) != 0) exit(64);
    volatile int64_t *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct listener listener = start(command);
    measure(NULL, name, change_default_route, false);
    measure(NULL, name, change_default_route, true);
    listener_settle(quiet);
    int64_t before = *count;
    for (int i = 0; i < events; i++) {
        measure(NULL, name, change_default_route, false);
        measure(NULL, name, change_default_route, true);
    }
    listener_settle(quiet);
    record("allocations per event", name, (double)(*count - before) / (2 * events));
    listener_stop(&listener);
}

struct run {
    double microseconds, peak_kilobytes;
};

/// Wall time and peak memory of a command that ends by itself.
static struct run run_once(const char *name, const char *command) {
    struct listener listener = listener_start(command);
    double peak = (double)listener_wait(&listener);
    struct run run = {(double)(now() - listener.started) / 1000, peak};
    record("run us", name, run.microseconds);
    record("run peak memory kB", name, run.peak_kilobytes);
    return run;
}

static void runs(const char *name, const char *command, int count) {
    for (int i = 0; i < count; i++) run_once(name, command);
}

/// From a default route to the end of a command that waits for one.
static void endings(const char *name, const char *command, int count) {
    for (int i = 0; i < count; i++) {
        change_default_route(false);
        struct listener listener = listener_start(command);
        // It is asleep when it has used no processor for a while.
        struct timespec pause = {.tv_nsec = 50000000};
        struct account before, after = {0};
        do {
            before = after;
            nanosleep(&pause, NULL);
            after = listener_account(&listener);
        } while (before.switches == 0 || before.switches != after.switches);
        int64_t start = now();
        change_default_route(true);
        listener_wait(&listener);
        record("ending us", name, (double)(now() - start) / 1000);
    }
}

static void enter(int namespace) {
    if (setns(namespace, CLONE_NEWNET) != 0) abort();
}

/// Two commands in turns, the second one in another network namespace: what comes and goes on the machine meets both
/// alike, so that the ratios of neighbours tell more than the ratio of medians.
static void pairs(int count, char *first, char *second, const char *namespace) {
    const char *commands[2] = {command_of(first), command_of(second)}, *names[2] = {first, second};
    int namespaces[2] = {open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), open(namespace, O_RDONLY | O_CLOEXEC)};
    for (int i = -2; i < count; i++) {
        struct run results[2];
        for (int j = 0; j < 2; j++) {
            int which = (i + 2 + j) % 2;
            enter(namespaces[which]);
            results[which] = run_once(names[which], commands[which]);
        }
        if (i < 0) continue;
        record("run us, ratio", second, results[1].microseconds / results[0].microseconds);
        record("run peak memory kB, ratio", second, results[1].peak_kilobytes / results[0].peak_kilobytes);
    }
    enter(namespaces[0]);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*measure)(const char *, const char *, int);
    } measurements[] = {{"latency", latency}, {"storm", storm}, {"idle", idle}, {"startup", startup},
                        {"memory", memory},   {"links", links}, {"runs", runs}, {"allocations", allocations},
                        {"endings", endings}};
    if (count >= 4 && strcmp(arguments[1], "routes") == 0) {
        change_open();
        change_host_routes(strcmp(arguments[2], "add") == 0, (uint32_t)atoi(arguments[3]));
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 6 && strcmp(arguments[1], "pairs") == 0) {
        pairs(atoi(arguments[2]), arguments[3], arguments[4], arguments[5]);
        return 0;
    }
    for (size_t i = 0; count >= 5 && i < sizeof measurements / sizeof *measurements; i++) {
        if (strcmp(arguments[1], measurements[i].name) != 0) continue;
        int rounds = atoi(arguments[2]), amount = atoi(arguments[3]), listeners = count - 4;
        const char *commands[listeners];
        for (int j = 0; j < listeners; j++) commands[j] = command_of(arguments[4 + j]);
        change_open();
        // Every round begins with another listener.
        for (int j = 0; j < rounds * listeners; j++) {
            int which = (j / listeners + j) % listeners;
            measurements[i].measure(arguments[4 + which], commands[which], amount);
        }
        return 0;
    }
    fprintf(stderr, "usage: driver MEASUREMENT ROUNDS AMOUNT NAME=COMMAND...\n       driver routes add|del COUNT\n"
                    "       driver pairs COUNT NAME=COMMAND NAME=COMMAND NAMESPACE\n");
    return 64;
}
