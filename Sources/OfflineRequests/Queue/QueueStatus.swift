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

    /// Why a request in the state ready or backoff is not sent now; nil when nothing hinders it.
    func waiting(for record: RequestRecord, isSentElsewhere: Bool, at now: Moment) -> WaitingReason? {
        switch self.role {
        case .none: return isSentElsewhere ? .otherSender : .notRunning
        case .waiting: return .otherSender
        case .standby: if isSentElsewhere { return .otherSender }
        case .sender: break
        }
        let reason = self.machine.waiting(for: Gate(record.request), at: now)
        guard record.state == .backoff, let until = record.notBefore else { return reason }
        // What ends without its own time coming is worth more than a time.
        switch reason {
        case .paused, .noPath, .portal, .metered, .interfaceType, .hostUnreachable: return reason
        default: return .backoff(until: until)
        }
    }
}
