// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP

/// What the thread of a queue is told.
enum QueueMessage: Sendable {
    /// Somebody wants something.
    case command(QueueCommand)
    /// Somebody has put a request into the file.
    case enqueued
    /// Somebody waits for something.
    case wait(QueueWaiter)
    /// And waits no more.
    case abandon(UInt64)
    /// Handlers are registered: sending may begin, of all requests or of one.
    case start(only: UUID?)
    /// The network is like this now.
    case path(ConnectivityUpdate)
    /// Somebody says that the path is back.
    case restored
    /// Whether a host that requests ask for can be reached.
    case host(String, isReachable: Bool)
    /// The hook before an attempt is through.
    case prepared(UUID, run: UInt64, Result<TransportRequest, HookFailure>)
    /// An attempt has ended, and another request may have gone in its place.
    case finished(UUID, run: UInt64, Result<TransportResponse, TransportError>, next: Relay.Start?)
    /// The handler of a response is through.
    case handled(UUID, run: UInt64, HookFailure?)
    /// Nothing more is to begin, and it is over when what is under way has ended.
    case shutdown(Shutdown)
    /// It is over.
    case close
}

/// The end of a queue, which waits for what is under way.
struct Shutdown: Sendable {
    let until: MonotonicTime
    /// Tells whether everything came to its end.
    let reply: @Sendable (Bool) -> Void
}

/// That a function of the application threw.
struct HookFailure: Error, Sendable {
    /// What it threw, for people.
    var message: String

    init(_ error: any Error) {
        self.message = "\(error)"
    }

    init(_ message: String) {
        self.message = message
    }
}

/// Something to be done in a transaction, together with everything else that waits.
struct QueueCommand: Sendable {
    /// Whether it has to survive the loss of power before the caller hears of it.
    let isDurable: Bool
    /// Does it; returns what tells the caller, once the transaction is on disk, or with why it is not.
    let perform: @Sendable (QueueWorker, StoreTransaction) throws -> @Sendable (QueueError?) -> Void
    /// Tells the caller that it was not done.
    let refuse: @Sendable (QueueError) -> Void

    init<Value: Sendable>(
        isDurable: Bool = true,
        _ body: @escaping @Sendable (QueueWorker, StoreTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, QueueError>) -> Void
    ) {
        self.isDurable = isDurable
        self.perform = { worker, store in
            let value = try body(worker, store)
            return { error in reply(error.map { .failure($0) } ?? .success(value)) }
        }
        self.refuse = { reply(.failure($0)) }
    }
}
