// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors
//
// The floor of a durable enqueue: one row and one commit at a time, with SQLite alone.
//   bare-sqlite FILE COUNT SIZE     prints how many rows per second, each with SIZE octets
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;

static void check(int result, const char *what) {
    if (result == SQLITE_OK || result == SQLITE_DONE) return;
    fprintf(stderr, "bare-sqlite: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: bare-sqlite FILE COUNT SIZE\n");
        return 64;
    }
    int rows = atoi(arguments[2]), size = atoi(arguments[3]);
    char *payload = malloc((size_t)size + 1);
    memset(payload, 'x', (size_t)size);

    check(sqlite3_open(arguments[1], &database), "open");
    check(sqlite3_exec(database, "PRAGMA journal_mode=WAL", 0, 0, 0), "journal_mode");
    check(sqlite3_exec(database, "PRAGMA synchronous=FULL", 0, 0, 0), "synchronous");
    // The identifier is unique, since a queue has to know its requests by their identifiers.
    check(sqlite3_exec(database,
                       "CREATE TABLE IF NOT EXISTS request (sequence INTEGER PRIMARY KEY, id BLOB UNIQUE, payload TEXT)",
                       0, 0, 0), "create");
    sqlite3_stmt *insert, *begin, *commit;
    check(sqlite3_prepare_v2(database, "INSERT INTO request (id, payload) VALUES (?, ?)", -1, &insert, 0), "prepare");
    check(sqlite3_prepare_v2(database, "BEGIN IMMEDIATE", -1, &begin, 0), "prepare");
    check(sqlite3_prepare_v2(database, "COMMIT", -1, &commit, 0), "prepare");

    uint64_t id[2];
    double start = now();
    for (int row = 0; row < rows; row++) {
        for (int half = 0; half < 2; half++) id[half] = ((uint64_t)random() << 33) ^ ((uint64_t)random() << 11) ^ (uint64_t)random();
        sqlite3_bind_blob(insert, 1, id, sizeof id, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, payload, size, SQLITE_STATIC);
        check(sqlite3_step(begin), "begin");
        check(sqlite3_step(insert), "insert");
        check(sqlite3_step(commit), "commit");
        sqlite3_reset(begin);
        sqlite3_reset(insert);
        sqlite3_reset(commit);
    }
    printf("%.1f\n", rows / (now() - start));
    return 0;
}
