// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// A value that only one thread at a time reaches, and that need not be sendable for it.
///
/// `Mutex` wants values that are handed over entirely; a class that is only ever used inside the lock is safe too, but
/// the compiler cannot see that no other code holds it.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = Mutex(())
    private let value: Value

    /// Guards a value that no other code uses from now on.
    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (Value) -> Result) -> Result {
        self.lock.withLock { _ in body(self.value) }
    }
}
