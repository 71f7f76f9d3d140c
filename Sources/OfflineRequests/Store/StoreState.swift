// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The states of requests as numbers of the database.
enum StoreState {
    static let ready: Int64 = 0
    static let blocked: Int64 = 1
    static let backoff: Int64 = 2
    static let running: Int64 = 3
    static let held: Int64 = 4
    static let dead: Int64 = 5
    static let succeeded: Int64 = 6

    static func number(_ state: RequestState) -> Int64? {
        switch state {
        case .ready: self.ready
        case .blocked: self.blocked
        case .backoff: self.backoff
        case .running: self.running
        case .held: self.held
        case .dead: self.dead
        case .succeeded: self.succeeded
        case .cancelled: nil
        }
    }

    static func state(_ number: Int64) -> RequestState? {
        switch number {
        case self.ready: .ready
        case self.blocked: .blocked
        case self.backoff: .backoff
        case self.running: .running
        case self.held: .held
        case self.dead: .dead
        case self.succeeded: .succeeded
        default: nil
        }
    }
}
