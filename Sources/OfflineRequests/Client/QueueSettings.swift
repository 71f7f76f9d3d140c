// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

/// How a queue works; see <doc:Delivery> and <doc:Storage>.
public struct QueueSettings: Sendable {
    /// What runs before every attempt, for example to put a fresh token into the headers.
    ///
    /// What it throws ends the attempt as one that did not leave this host. It runs on threads of the queue that all
    /// its functions share: it may suspend, and should not block.
    public typealias Prepare = @Sendable (inout TransportRequest, RetryableRequest) async throws -> Void

    /// How fast, how many and how long it tries.
    package var delivery: DeliverySettings
    /// How much it keeps.
    package var limits: QueueLimits
    /// What answers mean.
    package var responses: ResponsePolicy
    /// How long the handler of a response may take before the request is given up and its response kept.
    public var handlerTimeLimit: Duration
    /// What runs before every attempt; nil for nothing.
    public var prepare: Prepare?
    /// Whether it sends, once started; a queue that does not only takes requests, for another process to send.
    public var sends: Bool

    /// Creates the settings that suit most; what else there is to say is said afterwards.
    public init(handlerTimeLimit: Duration = .seconds(60), prepare: Prepare? = nil, sends: Bool = true) {
        self.init(delivery: DeliverySettings(), handlerTimeLimit: handlerTimeLimit, prepare: prepare, sends: sends)
    }

    package init(
        delivery: DeliverySettings,
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

// How fast, how many and how long it tries.
extension QueueSettings {
    /// How many requests are sent at the same time at most; 16.
    ///
    /// The last quarter of the places, at least one of several, is for hosts that nothing is being sent to, and half of it
    /// for those of them that have answered before, so that neither slow hosts nor ones that never answer keep others
    /// waiting. An attempt that has run for a second takes a quarter of a place, unless there is only one.
    public var concurrency: Int {
        get { self.delivery.concurrency }
        set { self.delivery.concurrency = newValue }
    }

    /// How many of them go to the same host at most; 4.
    public var perHostConcurrency: Int {
        get { self.delivery.perHostConcurrency }
        set { self.delivery.perHostConcurrency = newValue }
    }

    /// The longest wait after the first failure, 1 s; it doubles with each further one, and the wait is a random part of it.
    public var baseBackoff: Duration {
        get { self.delivery.baseBackoff }
        set { self.delivery.baseBackoff = newValue }
    }

    /// What that grows to; 5 minutes.
    public var maxBackoff: Duration {
        get { self.delivery.maxBackoff }
        set { self.delivery.maxBackoff = newValue }
    }

    /// How old a request becomes before it is given up, 7 days; its ``RetryableRequest/expiresAt`` may end it sooner.
    public var maxAge: Duration {
        get { self.delivery.maxAge }
        set { self.delivery.maxAge = newValue }
    }
}

// How much it keeps; what is beyond is refused, with ``QueueError/queueFull(limit:of:)``.
//
// What is finished and kept, dead requests and responses, counts too, but never stands in the way: the oldest of it goes
// first when there is no room for a new request.
extension QueueSettings {
    /// How many requests; a million.
    public var maxCount: Int {
        get { self.limits.maxCount }
        set { self.limits.maxCount = newValue }
    }

    /// How many bytes, bodies included; 1 GiB.
    public var maxBytes: Int {
        get { self.limits.maxBytes }
        set { self.limits.maxBytes = newValue }
    }

    /// How many bytes the body of one request may have; 100 MiB.
    public var maxBodyBytes: Int {
        get { self.limits.maxBodyBytes }
        set { self.limits.maxBodyBytes = newValue }
    }

    /// How long a response is kept that is not removed, a day: ``RetryableRequest/keepsResponse`` and
    /// ``OfflineRequestQueue/purgeFinished(id:)``.
    public var maxResponseAge: Duration {
        get { self.limits.maxResponseAge }
        set { self.limits.maxResponseAge = newValue }
    }
}

// What answers mean.
extension QueueSettings {
    /// The statuses after which a request is tried again: 408, 425, 429, 500, 502, 503 and 504, and what a captive portal
    /// says in place of the server (511).
    public var retryableStatuses: Set<Int> {
        get { self.responses.retryable }
        set { self.responses.retryable = newValue }
    }

    /// The statuses after which a request is held until it gets other credentials: 401 and 407.
    public var holdingStatuses: Set<Int> {
        get { self.responses.holding }
        set { self.responses.holding = newValue }
    }
}
