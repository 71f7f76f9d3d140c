/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * Lines of a stranger, under libFuzzer: clang -fsanitize=fuzzer,address,undefined fuzz.c document.c json.c
 */
#include "document.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t size)
{
    if (!memchr(text, 0, size)) abort();
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct document document;
    document_start(&document);
    for (size_t at = 0; at < size; at++) {
        enum document_result result = document_feed(&document, data[at]);
        if (result == DOCUMENT_MORE) continue;
        const struct netpath_path *path = &document.path;
        check(path->interface_name, sizeof path->interface_name);
        check(path->interface_type, sizeof path->interface_type);
        check(path->reason, sizeof path->reason);
        check(path->message, sizeof path->message);
        check(path->portal, sizeof path->portal);
        if (path->status < 0 || path->status > 3 || path->internet < 0 || path->internet > 3) abort();
        if (result != DOCUMENT_PATH) break;
    }
    return 0;
}
