// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Preloaded into a listener: counts allocations in a file shared with the driver. The release binary links the Swift
// runtime statically but the C library dynamically, so it sees what the runtime allocates too.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic int64_t unshared;
static _Atomic int64_t *count = &unshared;

__attribute__((constructor)) static void share(void) {
    const char *path = getenv("MALLOC_COUNT_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) count = page;
}

void *malloc(size_t size) { return atomic_fetch_add(count, 1), __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return atomic_fetch_add(count, 1), __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return atomic_fetch_add(count, 1), __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return atomic_fetch_add(count, 1), __libc_memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
    atomic_fetch_add(count, 1);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}
