// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An attempt that did not succeed, and when a request is given up after one.
struct Attempt: Sendable {
    /// The request, with the attempts that counted before this one.
    var request: RetryableRequest
    /// When it was enqueued.
    var enqueued: ClockStamp
    /// What went wrong, without secrets.
    var failure: String
    /// When.
    var now: Moment

    /// The end of the request, if this attempt, which may count or not, was its last.
    func end(_ settings: DeliverySettings, counts: Bool) -> Disposition? {
        if counts, self.request.retryCount >= self.request.maxRetries {
            return .dead(reason: "given up after \(self.request.retryCount + 1) attempts: \(self.failure)")
        }
        let isExpired = Aging.isExpired(
            self.enqueued,
            expiresAt: self.request.expiresAt,
            maxAge: settings.maxAge,
            at: self.now.stamp
        )
        return isExpired ? .dead(reason: "expired before it was delivered: \(self.failure)") : nil
    }
}
