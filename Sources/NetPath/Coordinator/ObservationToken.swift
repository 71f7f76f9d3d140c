// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The registration of a function that is called: with a coordinator, a monitor, or what follows one, such as a queue.
///
/// Dropping the value does not end the registration; ``cancel()`` does, and the end of what is observed.
public struct ObservationToken: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Makes one that ends as the function does.
    package init(_ onCancel: @escaping @Sendable () -> Void = {}) {
        self.onCancel = onCancel
    }

    /// Ends the registration.
    ///
    /// Called within the function itself, no further call follows. Called elsewhere, a call that is already under way
    /// finishes.
    public func cancel() {
        self.onCancel()
    }
}
