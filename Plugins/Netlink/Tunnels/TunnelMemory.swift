// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What is remembered of a tunnel between two looks: a value without input and output.
struct TunnelMemory {
    /// What could lead the tunnel's packets out: as the kernel answers, and interfaces with other routes or an address.
    struct Ways: Hashable {
        var routes: [OuterRoute]
        var interfaces: [UInt32]
    }

    /// How long packets that were on their way may still come in, and how long what came in proves something.
    private static let interval: Duration = .seconds(2)

    /// The interfaces that led out when last any did.
    private(set) var carriers: [UInt32] = []
    private var ways: Ways?
    /// How many packets had come in when they were counted last; nil until they are for the first time since the loss.
    private var received: UInt64?
    private var countedAt: MonotonicTime?
    private var isReceiving = false

    /// Notes which interfaces lead out now, and whether something carries the tunnel.
    mutating func note(_ carriers: [UInt32], isCarried: Bool) {
        if !carriers.isEmpty { self.carriers = carriers }
        if isCarried { self.ways = nil }
    }

    /// Whether packets keep coming in although nothing seems to carry the tunnel.
    ///
    /// Only what came since the last count is proof. Where what could lead the packets out changes, whatever the reason,
    /// counting begins anew; and counts are so far apart that proof does not lapse between two events.
    mutating func isReceiving(_ ways: Ways, now: MonotonicTime, count: () -> UInt64?) -> Bool {
        if self.ways != ways {
            (self.ways, self.received, self.countedAt, self.isReceiving) = (ways, nil, now, false)
        }
        guard let countedAt, now - countedAt >= Self.interval else { return self.isReceiving }
        let new = count()
        self.isReceiving = new.flatMap { new in self.received.map { $0 < new } } ?? false
        (self.received, self.countedAt) = (new, now)
        return self.isReceiving
    }
}
