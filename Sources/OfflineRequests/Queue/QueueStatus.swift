// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// What the thread of a queue says of itself, for those who read on other threads.
struct QueueStatus: Sendable {
    /// What this process does about sending.
    enum Role: Sendable {
        /// Nothing: it was not started, or is closed.
        case none
        /// Another process sends; this one waits for its end.
        case waiting
        /// It sends one request only, when that can go and nobody else sends.
        case standby
        /// It sends.
        case sender
    }

    var role = Role.none
    var machine: DeliveryMachine

    init(settings: QueueSettings) {
        self.machine = DeliveryMachine(settings: settings.delivery, responses: settings.responses)
    }

    /// Adds what requests wait for, where the database does not say it.
    ///
    /// - Parameters:
    ///   - records: The requests.
    ///   - isPaused: Whether the queue is.
    ///   - file: The queue, beside which another process that sends says what hinders it.
    /// - Returns: The same requests.
    func explain(_ records: [RequestRecord], isPaused: Bool, in file: String) -> [RequestRecord] {
        guard records.contains(where: { $0.state == .ready || $0.state == .backoff }) else { return records }
        let report = self.role == .sender ? nil : SenderReport(ofQueue: file)
        let now = Moment.ofQueue()
        return records.map { record in
            guard record.state == .ready || record.state == .backoff else { return record }
            var record = record
            record.waiting = self.waiting(for: record, isPaused: isPaused, report, at: now)
            return record
        }
    }

    /// Why a request in the state ready or backoff is not sent now; nil when nothing hinders it.
    private func waiting(
        for record: RequestRecord,
        isPaused: Bool,
        _ report: SenderReport?,
        at now: Moment
    ) -> WaitingReason? {
        let gate = Gate(record.request)
        let reason: WaitingReason?
        switch (self.role, report) {
        case (.sender, _): reason = self.machine.waiting(for: gate, at: now)
        case _ where isPaused: reason = .paused
        case (_, let report?): reason = report.reason(for: gate)
        case (.standby, nil): reason = self.machine.waiting(for: gate, at: now)
        case (.none, nil): return .notRunning
        // It has just ended, and this process is the next.
        case (.waiting, nil): reason = .otherSender
        }
        guard record.state == .backoff, let until = record.notBefore else { return reason }
        // What ends without its own time coming is worth more than a time.
        switch reason {
        case .paused, .noPath, .portal, .metered, .interfaceType, .hostUnreachable: return reason
        default: return .backoff(until: until)
        }
    }
}
