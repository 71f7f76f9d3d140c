// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Swift's Mutex waits in the kernel (FUTEX_LOCK_PI), in a library that the thread sanitizer does not see into: every
// contended lock would be reported as a race. Loaded before that library, this takes the lock where the sanitizer
// looks. Nobody ever waits in the kernel then, so the library's own slow unlock is never reached.

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

// _MutexHandle._lockSlow(_: UInt32)
__attribute__((swiftcall)) void netpath_lock_slow(
    uint32_t self, __attribute__((swift_context)) _Atomic uint32_t *storage
) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void netpath_lock_slow(
    uint32_t self, __attribute__((swift_context)) _Atomic uint32_t *storage
) {
    for (;;) {
        uint32_t unlocked = 0;
        if (atomic_compare_exchange_strong_explicit(
                storage, &unlocked, self, memory_order_acquire, memory_order_relaxed)) return;
        sched_yield();
    }
}
