/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * A strict reader of lines of JSON that takes a byte at a time, and keeps no line: what it needs is the same for any length.
 *
 * Jansson and json-c keep the whole tree, and both export names of `json_object_*` that clash with one another in the process
 * of a program that has the other one.
 */
#ifndef NETPATH_JSON_H
#define NETPATH_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEPTH = 64, JSON_TEXT = 512 };

enum json_event {
    JSON_BEGIN_OBJECT, JSON_BEGIN_ARRAY, JSON_END, JSON_KEY, JSON_STRING, JSON_NUMBER, JSON_TRUE, JSON_FALSE, JSON_NULL
};

enum json_result { JSON_MORE, JSON_LINE, JSON_BAD };

struct json {
    void (*take)(void *context, enum json_event event, const struct json *json);
    void *context;
    uint64_t objects; /* bit n: whether the value at depth n + 1 is an object */
    unsigned depth;   /* how many objects and arrays are open */
    unsigned char state;
    unsigned char hex; /* digits of an escape that are to come */
    unsigned char rest; /* bytes of a character that are to come */
    unsigned char low, high; /* bounds of the next one */
    bool is_key;
    bool is_cut; /* the text is longer than what is kept */
    uint32_t code, surrogate;
    const char *literal;
    size_t length;
    char text[JSON_TEXT];
};

void json_start(struct json *json, void (*take)(void *, enum json_event, const struct json *), void *context);

/* Takes a byte. After JSON_LINE it begins anew; after JSON_BAD nothing more may be given. */
enum json_result json_feed(struct json *json, unsigned char byte);

#endif
