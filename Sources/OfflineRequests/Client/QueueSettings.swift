// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

/// How a queue works.
public struct QueueSettings: Sendable {
    /// What runs before every attempt, for example to put a fresh token into the headers.
    ///
    /// What it throws ends the attempt as one that did not leave this host. It runs on threads of the queue that all
    /// its functions share: it may suspend, and should not block.
    public typealias Prepare = @Sendable (inout TransportRequest, RetryableRequest) async throws -> Void

    /// How fast, how many and how long it tries.
    public var delivery: DeliverySettings
    /// How much it keeps.
    public var limits: QueueLimits
    /// What answers mean.
    public var responses: ResponsePolicy
    /// How long the handler of a response may take before the request is given up and its response kept.
    public var handlerTimeLimit: Duration
    /// What runs before every attempt; nil for nothing.
    public var prepare: Prepare?
    /// Whether it sends, once started; a queue that does not only takes requests, for another process to send.
    public var sends: Bool

    /// Creates settings; without arguments those that suit most.
    public init(
        delivery: DeliverySettings = DeliverySettings(),
        limits: QueueLimits = QueueLimits(),
        responses: ResponsePolicy = ResponsePolicy(),
        handlerTimeLimit: Duration = .seconds(60),
        prepare: Prepare? = nil,
        sends: Bool = true
    ) {
        self.delivery = delivery
        self.limits = limits
        self.responses = responses
        self.handlerTimeLimit = handlerTimeLimit
        self.prepare = prepare
        self.sends = sends
    }
}
