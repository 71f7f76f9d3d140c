// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What becomes of a request after an attempt.
enum Disposition: Hashable, Sendable {
    /// It is done.
    case succeeded
    /// It is tried again, at the earliest after a time; whether the attempt counts against
    /// ``RetryableRequest/maxRetries``.
    case retry(after: Duration, countsAttempt: Bool)
    /// Nothing left this host: it is ready again at once, the attempt does not count, and the host is left alone for
    /// a while.
    case waitForPath
    /// It waits until somebody resumes it.
    case hold(WaitingReason)
    /// It is given up, and kept; why, without secrets.
    case dead(reason: String)

    /// Whether it is not sent again by itself, without having been delivered.
    var endsSending: Bool {
        switch self {
        case .hold, .dead: true
        case .succeeded, .retry, .waitForPath: false
        }
    }
}
