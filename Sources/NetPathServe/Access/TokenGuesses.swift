// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Wrong tokens by where they came from: who sends many has to wait, twice as long after each.
struct TokenGuesses: Sendable {
    /// So many are an oversight.
    private static let free = 4
    private static let longest: Duration = .seconds(30)
    /// After so long without one, the count begins anew.
    private static let memory: Duration = .seconds(600)
    /// More origins are not remembered: the one that was silent longest is forgotten.
    private static let origins = 1_024
    /// There is a message no more often than this.
    private static let messageInterval: Duration = .seconds(1)

    private var records: [String: (failures: Int, last: Duration, until: Duration)] = [:]
    private var message: String?
    private var nextMessage: Duration = .zero

    /// How long an origin has to wait; nil when it need not.
    func wait(of origin: String, now: Duration) -> Duration? {
        guard let record = self.records[origin], record.until > now else { return nil }
        return record.until - now
    }

    /// A wrong token came.
    mutating func failed(_ origin: String, now: Duration) {
        var record = self.records[origin] ?? (failures: 0, last: now, until: now)
        if now - record.last > Self.memory { record.failures = 0 }
        record.failures = min(record.failures + 1, 1_000_000)
        let doublings = min(record.failures - Self.free, 6)
        let wait: Duration = doublings > 0 ? min(.seconds(1) * (1 << (doublings - 1)), Self.longest) : .zero
        record.last = now
        record.until = now + wait
        self.records[origin] = record
        if self.records.count > Self.origins,
            let oldest = self.records.min(by: { $0.value.last < $1.value.last })?.key
        {
            self.records[oldest] = nil
        }
        guard now >= self.nextMessage else { return }
        self.nextMessage = now + Self.messageInterval
        let consequence = wait > .zero ? "; the next one is checked after \(wait.components.seconds) s" : ""
        self.message = "wrong token from \(origin), \(record.failures) so far\(consequence)"
    }

    /// The right one came.
    mutating func succeeded(_ origin: String) { self.records[origin] = nil }

    /// Takes what the administrator should know; nil when there is nothing.
    mutating func takeMessage() -> String? { self.message.take() }
}
