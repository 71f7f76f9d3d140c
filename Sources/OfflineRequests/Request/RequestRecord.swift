// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation
public import NetPathHTTP

/// A request of the queue, and where it stands.
public struct RequestRecord: Identifiable, Hashable, Sendable {
    /// The request.
    public var request: RetryableRequest
    /// Where it stands.
    public var state: RequestState
    /// What it waits for; nil when it does not wait.
    public var waiting: WaitingReason?
    /// What came of the last attempt when that failed, without secrets.
    public var lastError: String?
    /// The status of the last answer.
    public var lastStatus: Int?
    /// When it is tried again at the earliest; nil when only other things decide.
    public var notBefore: Date?
    /// Its place in the order of enqueuing.
    public var sequence: Int64
    /// How many attempts were begun, those that did not count among them.
    public var attempts: Int
    /// Whether a server may have received it before.
    public var isRepeat: Bool
    /// What the server answered, where ``RetryableRequest/keepsResponse`` asks for it.
    public var response: TransportResponse?

    /// The id of the request.
    public var id: UUID { self.request.id }

    /// Creates a record.
    public init(
        request: RetryableRequest,
        state: RequestState,
        waiting: WaitingReason? = nil,
        lastError: String? = nil,
        lastStatus: Int? = nil,
        notBefore: Date? = nil,
        sequence: Int64,
        attempts: Int = 0,
        isRepeat: Bool = false,
        response: TransportResponse? = nil
    ) {
        self.request = request
        self.state = state
        self.waiting = waiting
        self.lastError = lastError
        self.lastStatus = lastStatus
        self.notBefore = notBefore
        self.sequence = sequence
        self.attempts = attempts
        self.isRepeat = isRepeat
        self.response = response
    }
}
