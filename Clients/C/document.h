/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * What lines of JSON say: a path (`netpath watch --json`, the service) or a host (`netpath reach --json`).
 */
#ifndef NETPATH_DOCUMENT_H
#define NETPATH_DOCUMENT_H

#include "json.h"
#include "netpath.h"

/* A line that is longer ends the source; a path on a machine with thousands of interfaces is shorter. */
enum { DOCUMENT_LIMIT = 16 << 20, DOCUMENT_SCHEMA = 1 };

enum document_result { DOCUMENT_MORE, DOCUMENT_PATH, DOCUMENT_BAD, DOCUMENT_NEWER, DOCUMENT_REFUSED };

struct document {
    struct json json;
    struct netpath_path path; /* what was read of the line so far; complete after DOCUMENT_PATH */
    int32_t host;             /* enum netpath_reachability */
    uint64_t hash;            /* of what matters in it */
    size_t size;              /* bytes of the line so far */
    unsigned key, inner;      /* the members at depths 1 and 2 (3 in an array) that are read */
    unsigned index;           /* the position in the array at depth 2 */
    bool hashes, has_schema, has_status, is_newer, is_refused, is_object;
};

void document_start(struct document *document);
enum document_result document_feed(struct document *document, unsigned char byte);

/* Copies text as far as whole characters fit. */
void document_copy(char *to, size_t size, const char *text);

#endif
