// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "netpath needs libcurl 7.87 or newer"
#endif

// Swift cannot call variadic functions: one wrapper for each type that libcurl's options and answers have.

static inline CURLcode netpath_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode netpath_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode netpath_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode netpath_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

/// For reading, writing and headers, which have the same type.
static inline CURLcode netpath_set_transfer(
    CURL *handle, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)
) {
    return curl_easy_setopt(handle, option, function);
}

static inline CURLcode netpath_set_seek(CURL *handle, int (*function)(void *, curl_off_t, int)) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode netpath_set_debug(
    CURL *handle, int (*function)(CURL *, curl_infotype, char *, size_t, void *)
) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode netpath_set_prerequest(CURL *handle, int (*function)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode netpath_get_number(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode netpath_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode netpath_get_socket(CURL *handle, curl_socket_t *value) {
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLcode netpath_get_private(CURL *handle, void **value) {
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, value);
}

static inline CURLMcode netpath_set_multi_number(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}
