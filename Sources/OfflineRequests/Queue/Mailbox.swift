// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Synchronization

/// What the thread of a queue has to look at.
///
/// Whoever puts something in while the thread works does not ring: it looks again before it sleeps. So a burst costs
/// one wake-up, and a single message one system call.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var isAsleep = false
        var isClosed = false
    }

    /// How many messages may lie there before somebody looks.
    private static var many: Int { 64 }

    let doorbell: Doorbell
    private let state = Mutex(State())

    init(doorbell: Doorbell) {
        self.doorbell = doorbell
    }

    /// Puts a message in; on any thread.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - rings: Whether somebody is to look at it at once, and not only when there are many.
    /// - Returns: Whether somebody will look at it.
    @discardableResult
    func post(_ message: Message, rings: Bool = true) -> Bool {
        let (isTaken, rings) = self.state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.messages.append(message)
            guard state.isAsleep, rings || state.messages.count >= Self.many else { return (true, false) }
            state.isAsleep = false
            return (true, true)
        }
        if rings { self.doorbell.ring() }
        return isTaken
    }

    /// Takes all messages, in the order in which they came.
    func take() -> [Message] {
        self.state.withLock { state in
            defer { state.messages = [] }
            state.isAsleep = false
            return state.messages
        }
    }

    /// Says whether there is nothing to look at; from then on messages ring.
    func mayRest() -> Bool {
        self.state.withLock { state in
            state.isAsleep = state.messages.isEmpty
            return state.isAsleep
        }
    }

    /// Takes nothing any more; returns what came before.
    func close() -> [Message] {
        self.state.withLock { state in
            defer { state.messages = [] }
            state.isClosed = true
            return state.messages
        }
    }
}
