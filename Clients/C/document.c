/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#include "document.h"

#include <stdlib.h>
#include <string.h>

enum member {
    OTHER, SCHEMA, STATUS, REASON, STALE, INTERFACES, INTERNET, PORTAL, EXPENSIVE, CONSTRAINED, IPV4, IPV6, DNS,
    ERROR_TEXT,
    /* What is not kept, but makes another path. */
    MATTERS,
    CODE, MESSAGE, NAME, INDEX, TYPE
};

struct name {
    const char *name;
    enum member member;
};

static const struct name outer[] = {
    {"schema", SCHEMA}, {"status", STATUS}, {"reason", REASON}, {"stale", STALE}, {"interfaces", INTERFACES},
    {"internet", INTERNET}, {"portalURL", PORTAL}, {"isExpensive", EXPENSIVE}, {"isConstrained", CONSTRAINED},
    {"supportsIPv4", IPV4}, {"supportsIPv6", IPV6}, {"supportsDNS", DNS}, {"error", ERROR_TEXT}, {"carriedBy", MATTERS},
    {"gateways", MATTERS}, {"dnsServers", MATTERS}, {"nameServers", MATTERS}, {0}
};
static const struct name inner[] = {
    {"code", CODE}, {"message", MESSAGE}, {"name", NAME}, {"index", INDEX}, {"type", TYPE}, {0}
};

static unsigned find(const struct name *names, const char *text)
{
    while (names->name && strcmp(names->name, text) != 0) names++;
    return names->member;
}

void document_copy(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size) {
        length = size - 1;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    }
    memcpy(to, text, length);
    memset(to + length, 0, size - length);
}

static int32_t choice(const char *text, const char *const *names)
{
    for (int32_t value = 1; names[value - 1]; value++)
        if (strcmp(names[value - 1], text) == 0) return value;
    return 0;
}

static void take_status(struct document *document, const char *text)
{
    static const char *const paths[] = {"unsatisfied", "requiresConnection", "satisfied", NULL};
    static const char *const hosts[] = {"unreachable", "reachable", "cellular", NULL};
    document->path.status = choice(text, paths);
    document->host = choice(text, hosts);
}

static void take_text(struct document *document, const struct json *json)
{
    static const char *const internet[] = {"unreachable", "portal", "reachable", NULL};
    struct netpath_path *path = &document->path;
    if (json->depth == 1) {
        switch (document->key) {
        case STATUS:
            document->has_status = true;
            take_status(document, json->text);
            break;
        case INTERNET: path->internet = choice(json->text, internet); break;
        /* A part of a URL is another URL. */
        case PORTAL: document_copy(path->portal, sizeof path->portal, json->is_cut ? "" : json->text); break;
        case ERROR_TEXT:
            document->is_refused = true;
            document_copy(path->message, sizeof path->message, json->text);
            break;
        default: break;
        }
    } else if (json->depth == 2 && document->key == REASON) {
        if (document->inner == CODE) document_copy(path->reason, sizeof path->reason, json->text);
        if (document->inner == MESSAGE) document_copy(path->message, sizeof path->message, json->text);
    } else if (json->depth == 3 && document->key == INTERFACES && document->index == 1) {
        if (document->inner == NAME) document_copy(path->interface_name, sizeof path->interface_name, json->text);
        if (document->inner == TYPE) document_copy(path->interface_type, sizeof path->interface_type, json->text);
    }
}

static void take_number(struct document *document, const struct json *json)
{
    if (json->depth == 1 && document->key == SCHEMA) {
        document->has_schema = true;
        document->is_newer = strcmp(json->text, "1") != 0;
    } else if (json->depth == 3 && document->key == INTERFACES && document->index == 1 && document->inner == INDEX) {
        char *rest;
        unsigned long index = strtoul(json->text, &rest, 10);
        if (!*rest && json->text[0] != '-' && index <= INT32_MAX) document->path.interface_index = (uint32_t)index;
    }
}

static void take(void *context, enum json_event event, const struct json *json)
{
    struct document *document = context;
    switch (event) {
    case JSON_KEY:
        if (json->depth == 1) {
            document->key = find(outer, json->text);
            document->inner = document->index = 0;
            document->hashes = document->key > SCHEMA && document->key != ERROR_TEXT;
            document->hash ^= document->key;
        } else if (json->depth <= 3) {
            document->inner = find(inner, json->text);
        }
        break;
    case JSON_BEGIN_OBJECT:
        if (json->depth == 0) document->is_object = true;
        if (json->depth == 2) {
            document->index++;
            document->inner = 0;
        }
        break;
    case JSON_STRING: take_text(document, json); break;
    case JSON_NUMBER: take_number(document, json); break;
    case JSON_NULL:
        if (json->depth == 1 && document->key == STATUS) document->has_status = true;
        break;
    case JSON_TRUE:
        if (json->depth != 1) break;
        switch (document->key) {
        case STALE: document->path.flags |= NETPATH_STALE; break;
        case EXPENSIVE: document->path.flags |= NETPATH_EXPENSIVE; break;
        case CONSTRAINED: document->path.flags |= NETPATH_CONSTRAINED; break;
        case IPV4: document->path.flags |= NETPATH_IPV4; break;
        case IPV6: document->path.flags |= NETPATH_IPV6; break;
        case DNS: document->path.flags |= NETPATH_DNS; break;
        default: break;
        }
        break;
    case JSON_BEGIN_ARRAY:
    case JSON_END:
    case JSON_FALSE: break;
    }
}

void document_start(struct document *document)
{
    memset(document, 0, sizeof *document);
    document->hash = UINT64_C(0xcbf29ce484222325);
    json_start(&document->json, take, document);
}

enum document_result document_feed(struct document *document, unsigned char byte)
{
    if (document->size == 0) document_start(document);
    if (++document->size > DOCUMENT_LIMIT) return DOCUMENT_BAD;
    if (document->hashes) document->hash = (document->hash ^ byte) * UINT64_C(0x100000001b3);
    switch (json_feed(&document->json, byte)) {
    case JSON_MORE: return DOCUMENT_MORE;
    case JSON_BAD: return DOCUMENT_BAD;
    case JSON_LINE: break;
    }
    document->size = 0;
    if (document->is_newer) return DOCUMENT_NEWER;
    if (document->is_refused) return DOCUMENT_REFUSED;
    if (!document->is_object || !document->has_schema || !document->has_status) return DOCUMENT_BAD;
    if (!document->path.status && !document->path.reason[0])
        document_copy(document->path.reason, sizeof document->path.reason, "noVerdict");
    return DOCUMENT_PATH;
}
