// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// How fast, how many and how long the queue tries.
package struct DeliverySettings: Hashable, Sendable {
    /// How many requests are sent at the same time at most.
    ///
    /// The last quarter of the places, at least one of several, is for hosts that nothing is being sent to, and half of it
    /// for those of them that have answered before, so that neither slow hosts nor ones that never answer keep others
    /// waiting. An attempt that has run for a second takes a quarter of a place, unless there is only one.
    package var concurrency: Int
    /// How many of them go to the same host at most.
    package var perHostConcurrency: Int
    /// The longest wait after the first failure; it doubles with each further one, and the wait is a random part of it.
    package var baseBackoff: Duration
    /// What that grows to.
    package var maxBackoff: Duration
    /// How old a request becomes before it is given up; its ``RetryableRequest/expiresAt`` may end it sooner.
    package var maxAge: Duration
    /// How long a path that returned must last before anything is sent.
    package var minimumOnline: Duration = .seconds(1)
    /// The longest random wait after that, so that a fleet does not come back in step.
    package var reconnectJitter: Duration = .seconds(3)
    /// How many failures of a host in a row pause it; one that was not reached is paused at once.
    package var failuresBeforePause = 5

    /// Creates settings; without arguments those that suit most.
    package init(
        concurrency: Int = 16,
        perHostConcurrency: Int = 4,
        baseBackoff: Duration = .seconds(1),
        maxBackoff: Duration = .seconds(300),
        maxAge: Duration = .seconds(7 * 86_400)
    ) {
        self.concurrency = concurrency
        self.perHostConcurrency = perHostConcurrency
        self.baseBackoff = baseBackoff
        self.maxBackoff = maxBackoff
        self.maxAge = maxAge
    }
}
