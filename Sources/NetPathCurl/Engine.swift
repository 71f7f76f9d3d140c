// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import NetPathSystem
import Synchronization

/// The thread that everything of libcurl happens on, and the mailbox through which others reach it.
///
/// Only that thread touches a transfer, so that cancelling is safe: it is a message, and when it is read the transfer
/// either is under way or has ended.
final class Engine: Sendable {
    enum Message {
        case start(Job)
        case cancel(UInt64)
        case cancelFrom(Set<String>)
        case pathChanged
        /// Ends the thread as soon as nothing is under way any more.
        case stop
    }

    private struct Mailbox {
        var messages: [Message] = []
        var lastNumber: UInt64 = 0
        var hasThread = false
        /// Whether the thread will look here before it sleeps.
        var isAwake = false
    }

    private let configuration: EasyHandle.Configuration
    private let mailbox = Mutex(Mailbox())
    private let multi = MultiHandle()

    init(_ configuration: EasyHandle.Configuration) {
        self.configuration = configuration
    }

    // MARK: On any thread

    /// Begins to send, and returns the number to cancel with.
    func start(_ request: TransportRequest, receive: @escaping Job.Receiver) -> UInt64 {
        let (number, needsThread, isAsleep) = self.mailbox.withLock { mailbox in
            mailbox.lastNumber += 1
            mailbox.messages.append(.start(Job(number: mailbox.lastNumber, request: request, receive: receive)))
            defer { (mailbox.hasThread, mailbox.isAwake) = (true, true) }
            return (mailbox.lastNumber, !mailbox.hasThread, mailbox.hasThread && !mailbox.isAwake)
        }
        if needsThread { self.startThread() } else if isAsleep { self.multi?.wake() }
        return number
    }

    /// Tells the thread; without one there are no transfers and no connections.
    func post(_ message: Message) {
        let isAsleep = self.mailbox.withLock { mailbox in
            guard mailbox.hasThread else { return false }
            mailbox.messages.append(message)
            defer { mailbox.isAwake = true }
            return !mailbox.isAwake
        }
        if isAsleep { self.multi?.wake() }
    }

    private func startThread() {
        if let multi = self.multi, BackgroundThread.start({ self.run(multi) }) { return }
        let messages = self.mailbox.withLock { mailbox in
            mailbox.hasThread = false
            return mailbox.messages.takeAll()
        }
        for case .start(let job) in messages {
            job.fail(.other, .notSent, "no thread or descriptor is left: raise the limits")
        }
    }

    // MARK: On the thread

    private func run(_ multi: MultiHandle) {
        // Makes writing to a closed TLS connection an error instead of a signal on this thread: only plain sockets can be
        // told so themselves.
        ChildProcess.blockBrokenPipes()
        var transfers = Transfers(multi, self.configuration)
        var isStopping = false
        while true {
            let messages = self.mailbox.withLock { mailbox in
                // A message that this thread posts itself, after a transfer has ended, needs no wake-up.
                mailbox.isAwake = true
                return mailbox.messages.takeAll()
            }
            for message in messages {
                switch message {
                case .start(let job): transfers.start(job)
                case .cancel(let number): transfers.cancel(number)
                case .cancelFrom(let addresses): transfers.cancel(from: addresses)
                case .pathChanged: transfers.pathChanged()
                case .stop: isStopping = true
                }
            }
            transfers.advance()
            let mayRest = self.mailbox.withLock { mailbox in
                mailbox.isAwake = !mailbox.messages.isEmpty
                return mailbox.messages.isEmpty
            }
            guard mayRest else { continue }
            if isStopping && transfers.isEmpty { return }
            multi.wait(until: transfers.nextLook)
        }
    }
}

/// A request, and who waits for its end.
struct Job: Sendable {
    typealias Receiver = @Sendable (Result<TransportResponse, TransportError>) -> Void

    let number: UInt64
    let request: TransportRequest
    let receive: Receiver

    func fail(_ reason: TransportError.Reason, _ progress: TransportError.Progress, _ what: String) {
        let message = "\(self.request.method) \(self.request.place): \(what)"
        self.receive(.failure(TransportError(reason, progress: progress, message: message)))
    }
}

extension Array {
    fileprivate mutating func takeAll() -> Self {
        defer { self = [] }
        return self
    }
}
