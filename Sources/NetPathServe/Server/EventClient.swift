// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What one client of the events is sent, and when: never more than one state is on its way to it, and the next one is the
/// newest there is then.
package struct EventClient: Sendable {
    private enum State: Hashable, Sendable {
        case idle
        /// Something is being written; whether there is a newer state since.
        case writing(isBehind: Bool)
    }

    /// What to do with a client at a heartbeat.
    package enum Beat: Hashable, Sendable {
        /// Something was sent since the last one.
        case pass
        case write
        /// It took nothing for a whole interval: it is gone, or never reads.
        case close
    }

    private var state = State.writing(isBehind: false)
    private var wasWritten = true

    /// A client that its first state is being written to.
    package init() {}

    /// There is a newer state.
    ///
    /// - Returns: Whether to write it now.
    package mutating func change() -> Bool {
        self.write(from: .idle, otherwise: .writing(isBehind: true))
    }

    /// What was being written is.
    ///
    /// - Returns: Whether there is a newer state to write now.
    package mutating func written() -> Bool {
        self.write(from: .writing(isBehind: true), otherwise: .idle)
    }

    private mutating func write(from ready: State, otherwise other: State) -> Bool {
        let isReady = self.state == ready
        self.state = isReady ? .writing(isBehind: false) : other
        self.wasWritten = self.wasWritten || isReady
        return isReady
    }

    /// An interval is over.
    package mutating func beat() -> Beat {
        defer { self.wasWritten = false }
        switch self.state {
        case .idle where self.wasWritten: return .pass
        case .idle:
            self.state = .writing(isBehind: false)
            return .write
        case .writing: return self.wasWritten ? .pass : .close
        }
    }
}
