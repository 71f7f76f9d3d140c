/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors */
#include "json.h"

#include <string.h>

enum { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, AFTER, STRING, ESCAPE, HEX, NUMBER, LITERAL };

void json_start(struct json *json, void (*take)(void *, enum json_event, const struct json *), void *context)
{
    memset(json, 0, sizeof *json);
    json->take = take;
    json->context = context;
    json->state = VALUE;
}

static void tell(struct json *json, enum json_event event)
{
    json->take(json->context, event, json);
}

/* Keeps whole characters only, so that what is cut stays UTF-8. */
static void keep(struct json *json, const char *bytes, size_t count)
{
    if (json->is_cut || json->length + count >= JSON_TEXT) {
        json->is_cut = true;
        return;
    }
    memcpy(json->text + json->length, bytes, count);
    json->length += count;
    json->text[json->length] = 0;
}

static void keep_code(struct json *json, uint32_t code)
{
    /* What could act on a terminal, or end a string, is replaced. */
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    char bytes[4];
    size_t count = 0;
    if (code < 0x80) {
        bytes[count++] = (char)code;
    } else if (code < 0x800) {
        bytes[count++] = (char)(0xc0 | code >> 6);
        bytes[count++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        bytes[count++] = (char)(0xe0 | code >> 12);
        bytes[count++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[count++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[count++] = (char)(0xf0 | code >> 18);
        bytes[count++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[count++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[count++] = (char)(0x80 | (code & 0x3f));
    }
    keep(json, bytes, count);
}

static void drop_surrogate(struct json *json)
{
    if (json->surrogate) keep_code(json, 0xfffd);
    json->surrogate = 0;
}

static enum json_result begin(struct json *json, bool is_object)
{
    if (json->depth == JSON_DEPTH) return JSON_BAD;
    tell(json, is_object ? JSON_BEGIN_OBJECT : JSON_BEGIN_ARRAY);
    uint64_t bit = UINT64_C(1) << json->depth;
    json->objects = is_object ? json->objects | bit : json->objects & ~bit;
    json->depth++;
    json->state = is_object ? KEY_OR_END : VALUE_OR_END;
    return JSON_MORE;
}

static bool in_object(const struct json *json)
{
    return json->depth > 0 && (json->objects >> (json->depth - 1) & 1);
}

static enum json_result end(struct json *json, unsigned char byte)
{
    if (!json->depth || in_object(json) != (byte == '}')) return JSON_BAD;
    json->depth--;
    json->state = AFTER;
    tell(json, JSON_END);
    return JSON_MORE;
}

static enum json_result begin_text(struct json *json, unsigned char state)
{
    json->state = state;
    json->length = 0;
    json->text[0] = 0;
    json->is_cut = false;
    json->surrogate = 0;
    return JSON_MORE;
}

static enum json_result value(struct json *json, unsigned char byte)
{
    switch (byte) {
    case '{': return begin(json, true);
    case '[': return begin(json, false);
    case '"':
        json->is_key = false;
        return begin_text(json, STRING);
    case 't': json->literal = "rue"; break;
    case 'f': json->literal = "alse"; break;
    case 'n': json->literal = "ull"; break;
    default:
        if (byte != '-' && (byte < '0' || byte > '9')) return JSON_BAD;
        begin_text(json, NUMBER);
        json->text[json->length++] = (char)byte;
        return JSON_MORE;
    }
    json->state = LITERAL;
    return JSON_MORE;
}

static enum json_result string(struct json *json, unsigned char byte)
{
    if (json->rest) {
        if (byte < json->low || byte > json->high) return JSON_BAD;
        json->low = 0x80;
        json->high = 0xbf;
        json->code = json->code << 6 | (byte & 0x3f);
        if (--json->rest == 0) keep_code(json, json->code);
        return JSON_MORE;
    }
    if (byte == '\\') {
        json->state = ESCAPE;
        return JSON_MORE;
    }
    drop_surrogate(json);
    if (byte == '"') {
        json->state = json->is_key ? COLON : AFTER;
        tell(json, json->is_key ? JSON_KEY : JSON_STRING);
        return JSON_MORE;
    }
    if (byte < 0x20) return JSON_BAD;
    json->low = 0x80;
    json->high = 0xbf;
    if (byte < 0x80) {
        keep_code(json, byte);
    } else if (byte >= 0xc2 && byte <= 0xdf) {
        json->rest = 1;
        json->code = byte & 0x1f;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        json->rest = 2;
        json->code = byte & 0x0f;
        if (byte == 0xe0) json->low = 0xa0;
        if (byte == 0xed) json->high = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        json->rest = 3;
        json->code = byte & 0x07;
        if (byte == 0xf0) json->low = 0x90;
        if (byte == 0xf4) json->high = 0x8f;
    } else {
        return JSON_BAD;
    }
    return JSON_MORE;
}

static enum json_result escape(struct json *json, unsigned char byte)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (byte == 'u') {
        json->state = HEX;
        json->hex = 4;
        json->code = 0;
        return JSON_MORE;
    }
    const char *found = byte ? strchr(from, byte) : NULL;
    if (!found) return JSON_BAD;
    drop_surrogate(json);
    keep_code(json, (unsigned char)to[found - from]);
    json->state = STRING;
    return JSON_MORE;
}

static enum json_result hex(struct json *json, unsigned char byte)
{
    unsigned digit;
    if (byte >= '0' && byte <= '9') digit = byte - '0';
    else if (byte >= 'a' && byte <= 'f') digit = byte - 'a' + 10;
    else if (byte >= 'A' && byte <= 'F') digit = byte - 'A' + 10;
    else return JSON_BAD;
    json->code = json->code << 4 | digit;
    if (--json->hex) return JSON_MORE;
    json->state = STRING;
    if (json->surrogate && json->code >= 0xdc00 && json->code < 0xe000) {
        keep_code(json, 0x10000 + ((json->surrogate - 0xd800) << 10) + (json->code - 0xdc00));
        json->surrogate = 0;
        return JSON_MORE;
    }
    drop_surrogate(json);
    if (json->code >= 0xd800 && json->code < 0xdc00) json->surrogate = json->code;
    else keep_code(json, json->code);
    return JSON_MORE;
}

static const char *digits(const char *text)
{
    while (*text >= '0' && *text <= '9') text++;
    return text;
}

static bool is_number(const char *text)
{
    if (*text == '-') text++;
    const char *after = *text == '0' ? text + 1 : digits(text);
    if (after == text) return false;
    text = after;
    if (*text == '.') {
        after = digits(text + 1);
        if (after == text + 1) return false;
        text = after;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        after = digits(text);
        if (after == text) return false;
        text = after;
    }
    return *text == 0;
}

static enum json_result after(struct json *json, unsigned char byte)
{
    if (byte == '\n' && !json->depth) {
        json->state = VALUE;
        return JSON_LINE;
    }
    if (byte == ',' && json->depth) {
        json->state = in_object(json) ? KEY : VALUE;
        return JSON_MORE;
    }
    return byte == '}' || byte == ']' ? end(json, byte) : JSON_BAD;
}

enum json_result json_feed(struct json *json, unsigned char byte)
{
    switch (json->state) {
    case STRING: return string(json, byte);
    case ESCAPE: return escape(json, byte);
    case HEX: return hex(json, byte);
    case LITERAL:
        if (byte != (unsigned char)*json->literal++) return JSON_BAD;
        if (*json->literal) return JSON_MORE;
        json->state = AFTER;
        /* "rue", "alse" and "ull" differ in their last letters but one. */
        tell(json, json->literal[-2] == 'u' ? JSON_TRUE : json->literal[-2] == 's' ? JSON_FALSE : JSON_NULL);
        return JSON_MORE;
    case NUMBER:
        if ((byte >= '0' && byte <= '9') || byte == '.' || byte == 'e' || byte == 'E' || byte == '+' || byte == '-') {
            if (json->length == 63) return JSON_BAD;
            json->text[json->length++] = (char)byte;
            return JSON_MORE;
        }
        json->text[json->length] = 0;
        if (!is_number(json->text)) return JSON_BAD;
        json->state = AFTER;
        tell(json, JSON_NUMBER);
        break;
    default: break;
    }
    if (byte == ' ' || byte == '\t' || byte == '\r') return JSON_MORE;
    switch (json->state) {
    case VALUE: return value(json, byte);
    case VALUE_OR_END: return byte == ']' ? end(json, byte) : value(json, byte);
    case KEY_OR_END:
        if (byte == '}') return end(json, byte);
        /* fall through */
    case KEY:
        json->is_key = true;
        return byte == '"' ? begin_text(json, STRING) : JSON_BAD;
    case COLON:
        json->state = VALUE;
        return byte == ':' ? JSON_MORE : JSON_BAD;
    default: return after(json, byte);
    }
}
