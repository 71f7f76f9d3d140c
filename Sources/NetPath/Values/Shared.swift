// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A value that is passed on by reference: to copy a path takes twenty times as long.
package final class Shared<Value: Sendable>: Sendable {
    package let value: Value

    package init(_ value: Value) {
        self.value = value
    }
}
