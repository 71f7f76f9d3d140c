// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPathHTTP

/// How a queue works; see <doc:Delivery> and <doc:Storage>.
///
/// What is beyond a limit is refused, with ``QueueError/queueFull(limit:of:)``. What is finished and kept, dead requests
/// and responses, counts too, but never stands in the way: the oldest of it goes first when there is no room for a new
/// request.
public struct QueueSettings: Sendable {
    /// What runs before every attempt, for example to put a fresh token into the headers.
    ///
    /// What it throws ends the attempt as one that did not leave this host. It runs on threads of the queue that all
    /// its functions share: it may suspend, and should not block.
    public typealias Prepare = @Sendable (inout TransportRequest, RetryableRequest) async throws -> Void

    /// How many requests are sent at the same time at most.
    ///
    /// The last quarter of the places, at least one of several, is for hosts that nothing is being sent to, and half of it
    /// for those of them that have answered before, so that neither slow hosts nor ones that never answer keep others
    /// waiting. An attempt that has run for a second takes a quarter of a place, unless there is only one.
    public var concurrency = 16
    /// How many of them go to the same host at most; one that has run for ten seconds counts as a quarter, where there may be
    /// several.
    public var perHostConcurrency = 4
    /// The longest wait of a request after its first failure, and the longest first pause of a host.
    ///
    /// It doubles with each further one. The wait is a random part of it, the pause at least half.
    public var baseBackoff: Duration = .seconds(1)
    /// The longest wait, and the longest pause of a host, after any number of failures.
    public var maxBackoff: Duration = .seconds(300)
    /// How old a request becomes before it is given up, 7 days; its ``RetryableRequest/expiresAt`` may end it sooner.
    public var maxAge: Duration = .seconds(7 * 86_400)
    /// How long a path that returned must last before anything is sent.
    package var minimumOnline: Duration = .seconds(1)
    /// The longest random wait after that, so that a fleet does not come back in step.
    package var reconnectJitter: Duration = .seconds(3)
    /// How many failures of a host in a row pause it; one that was not reached is paused at once.
    package var failuresBeforePause = 5

    /// How many requests the queue keeps.
    public var maxCount = 1_000_000
    /// How many bytes it keeps, bodies included; 1 GiB.
    public var maxBytes = 1 << 30
    /// How many bytes the body of one request may have; 100 MiB.
    public var maxBodyBytes = 100 << 20
    /// How long a response is kept that is not removed, a day: ``RetryableRequest/keepsResponse`` and
    /// ``OfflineRequestQueue/purgeFinished(id:)``.
    public var maxResponseAge: Duration = .seconds(86_400)

    /// The statuses after which a request is tried again, what a captive portal says in place of the server (511) among
    /// them.
    public var retryableStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 511]
    /// The statuses after which a request is held until it gets other credentials.
    public var holdingStatuses: Set<Int> = [401, 407]

    /// How long the handler of a response may take before the request is given up and its response kept.
    public var handlerTimeLimit: Duration
    /// What runs before every attempt; nil for nothing.
    public var prepare: Prepare?
    /// Whether it sends, once started; a queue that does not only takes requests, for another process to send.
    public var sends: Bool
    /// Until when is waited at the latest for processes that have the file.
    package var waitsUntil: ContinuousClock.Instant?

    /// Creates the settings that suit most; the others are set afterwards.
    public init(handlerTimeLimit: Duration = .seconds(60), prepare: Prepare? = nil, sends: Bool = true) {
        self.handlerTimeLimit = handlerTimeLimit
        self.prepare = prepare
        self.sends = sends
    }
}
