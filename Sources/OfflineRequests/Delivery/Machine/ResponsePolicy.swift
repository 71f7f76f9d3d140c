// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What answers mean.
package struct ResponsePolicy: Hashable, Sendable {
    /// The statuses after which a request is tried again.
    package var retryable: Set<Int>
    /// The statuses after which a request waits for somebody, because the server did not accept who sent it.
    package var holding: Set<Int>

    /// 408, 425, 429, 500, 502, 503 and 504, and what a captive portal says in place of the server (511).
    package static let retryableByDefault: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 511]

    /// Creates a policy; without arguments the usual one.
    package init(retryable: Set<Int> = Self.retryableByDefault, holding: Set<Int> = [401, 407]) {
        self.retryable = retryable
        self.holding = holding
    }
}
