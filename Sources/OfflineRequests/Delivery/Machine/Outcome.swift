// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP

typealias AttemptResult = Result<TransportResponse, TransportError>

/// What an attempt came to, before attempts and age are looked at.
enum Outcome: Hashable, Sendable {
    enum Host: Hashable, Sendable {
        /// It answers as one that works.
        case works
        /// It answered with a failure of its own that may be that of the request alone.
        case faulted
        /// It failed; how long it asked to be left alone.
        case failed(retryAfter: Duration?)
        /// Nothing could be sent to it.
        case notReached
        case unknown
    }

    case succeeded
    /// Nothing left this host.
    case notSent
    /// The same may work later.
    case again(retryAfter: Duration?)
    case hold(WaitingReason)
    /// Another host may have answered.
    case misled(WaitingReason)
    /// The same would fail again.
    case final

    fileprivate static let longestRetryAfter: Duration = .seconds(86_400)
}

extension QueueSettings {
    func outcome(
        of result: AttemptResult,
        for request: RetryableRequest,
        at wall: Date
    ) -> (outcome: Outcome, host: Outcome.Host) {
        switch result {
        case .success(let response):
            if let reason = self.suspicion(of: response, to: request) { return (.misled(reason), .unknown) }
            let retryAfter = Self.retryAfter(of: response, at: wall)
            return (
                self.outcome(ofStatus: response.status, retryAfter: retryAfter, for: request),
                Self.host(ofStatus: response.status, retryAfter: retryAfter)
            )
        case .failure(let error):
            return self.outcome(of: error, for: request)
        }
    }

    /// Why an answer may come from another host than the server; nil when nothing tells of that.
    private func suspicion(of response: TransportResponse, to request: RetryableRequest) -> WaitingReason? {
        let status = response.status
        if 200..<300 ~= status || request.expects(status: status) {
            return request.lack(in: response).map { .unexpectedAnswer($0) }
        }
        guard [301, 302, 303, 307, 308].contains(status), !self.retryableStatuses.contains(status),
            !self.holdingStatuses.contains(status), let place = response.headers["Location"]
        else { return nil }
        let target = try? Endpoint(place.hasPrefix("//") ? "https:\(place)" : place)
        if let target, let host = NetworkHost(authority: target.authority) {
            return host == NetworkHost(authority: request.host) ? nil : .redirected(target.authority)
        }
        // One with a scheme or an authority that cannot be read is not known to be the server's own.
        let namesPlace = place.contains(#/^([A-Za-z][A-Za-z0-9+.\-]*:|[\/\\]{2})/#)
        return namesPlace ? .redirected(String(place.filter { !$0.isNewline && $0 != "\0" }.prefix(200))) : nil
    }

    /// The wait a server asks for, at most a day.
    static func retryAfter(of response: TransportResponse, at wall: Date) -> Duration? {
        response.headers["Retry-After"]
            .flatMap { RetryAfter.parse($0, now: .seconds(wall.timeIntervalSince1970)) }
            .map { min($0, Outcome.longestRetryAfter) }
    }

    private func outcome(ofStatus status: Int, retryAfter: Duration?, for request: RetryableRequest) -> Outcome {
        switch status {
        case _ where request.expects(status: status): .succeeded
        case _ where self.holdingStatuses.contains(status): .hold(.unauthorized)
        case _ where self.retryableStatuses.contains(status): .again(retryAfter: retryAfter)
        // The first request with that key is still being worked on
        // (draft-ietf-httpapi-idempotency-key-header-06, 2.6).
        case 409 where request.carriesKey: .again(retryAfter: retryAfter)
        default: .final
        }
    }

    private static func host(ofStatus status: Int, retryAfter: Duration?) -> Outcome.Host {
        switch status {
        case 429, 503: .failed(retryAfter: retryAfter)
        case 500...: .faulted
        default: .works
        }
    }

    private func outcome(
        of error: TransportError,
        for request: RetryableRequest
    ) -> (outcome: Outcome, host: Outcome.Host) {
        switch (error.progress, error.reason) {
        case (.notSent, .invalidRequest):
            (.final, .unknown)
        // Before it is sent again, its body is looked at: whether it is there, and what was taken.
        case (.notSent, .file):
            (.again(retryAfter: nil), .unknown)
        // The caller that cancelled it knows when it may go again.
        case (.notSent, .cancelled):
            (.notSent, .unknown)
        case (.notSent, _):
            (.notSent, .notReached)
        case (.mayHaveBeenReceived, .cancelled):
            (.again(retryAfter: nil), .unknown)
        case (.mayHaveBeenReceived, _):
            (.again(retryAfter: nil), .failed(retryAfter: nil))
        case (.answered(let status), let reason):
            switch self.outcome(ofStatus: status, retryAfter: nil, for: request) {
            // The server has done it, and the same answer would be no better the next time.
            case .succeeded where reason == .badResponse: (.final, .works)
            // The server has done it, but what it answered is lost; the key makes asking again safe.
            case .succeeded: (.again(retryAfter: nil), .unknown)
            // Over plain http a captive portal redirects, and where to is lost.
            case .final where 300..<400 ~= status && Gate(request).isPlain: (.again(retryAfter: nil), .unknown)
            case let outcome: (outcome, Self.host(ofStatus: status, retryAfter: nil))
            }
        }
    }
}

extension AttemptResult {
    var status: Int? {
        switch self {
        case .success(let response): response.status
        case .failure(let error): if case .answered(let status) = error.progress { status } else { nil }
        }
    }

    /// What went wrong, as it may be shown.
    func failure(of request: RetryableRequest) -> String {
        switch self {
        case .success(let response): "the server answered \(request.lack(in: response) ?? "\(response.status)")"
        case .failure(let error): request.redact(error.message)
        }
    }
}

enum Disposition: Hashable, Sendable {
    case succeeded
    /// It is tried again, at the earliest after a time; whether the attempt counts against
    /// ``RetryableRequest/maxRetries``.
    case retry(after: Duration, countsAttempt: Bool)
    /// Nothing left this host: it is ready again at once, the attempt does not count, and the host is left alone for
    /// a while.
    case waitForPath
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
