// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A callback's registration with a coordinator.
///
/// Dropping the value does not end the registration; ``cancel()`` does.
public struct PathSubscription: Sendable {
    let onCancel: @Sendable () -> Void

    /// Ends the registration.
    ///
    /// Called within the callback itself, no further call follows. Called elsewhere, a call that is already under way
    /// finishes.
    public func cancel() {
        self.onCancel()
    }
}
