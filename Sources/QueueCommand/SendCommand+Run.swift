// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import NetPathHTTP
import NetPathSystem
import OfflineRequests
import Synchronization

extension SendCommand: RunnableCommand {
    /// How long after its time another process may take to say that a request has expired.
    private static let patience: Duration = .seconds(5)
    /// How often it is looked what another process that sends did with the request.
    private static let lookInterval: Duration = .seconds(1)

    func run(in session: QueueSession) throws -> ToolStatus {
        let (queue, request, id): (OfflineRequestQueue, RetryableRequest, UUID)
        do {
            queue =
                self.wait
                ? try session.openToSend(self.options, trusting: self.trust, within: self.timeout) : try session.open()
            request = try self.request(bodyLimit: queue.settings.maxBodyBytes)
            id = try session.wait { [queue, request] () async throws(QueueError) in try await queue.enqueue(request) }
        } catch let error as QueueError {
            guard case .io = error else { throw error }
            let status: ToolStatus = session.isOver(error) ? .timedOut : .failure
            throw ToolFailure(status, "the request was not kept: \(error.description.safe)")
        }
        if id != request.id, self.wait || !self.options.json {
            ToolContext.current.say(
                "this request was not kept: \(id.text), with the same --unique, is waiting or being sent already, and stays; "
                    + "see --if-exists replace"
            )
        }
        if self.wait {
            let status = try self.wait(for: id, in: queue, of: session)
            // Another process that waits for it put it there, and removes it. What cannot be removed now goes by its age.
            if id == request.id, status == .satisfied {
                try? session.wait { () async throws(QueueError) in try await queue.purgeFinished(id: id) }
            }
            return status
        }
        let document: JSONNode = ["schema": schemaVersion, "id": .string(id.text), "isNew": .bool(id == request.id)]
        try ToolContext.current.write((self.options.json ? document.line : id.text) + "\n")
        return .satisfied
    }

    private func wait(for id: UUID, in queue: OfflineRequestQueue, of session: QueueSession) throws -> ToolStatus {
        // Of its own attempts this process hears at once; those of others it finds.
        let retry = Mutex<Date?>(nil)
        let loop = session.loop
        let evidence = queue.observe { event in
            if case .backoff(id, let until) = event { retry.withLock { $0 = until } }
            loop.wakeUp.wake(.output)
        }
        defer { evidence.cancel() }
        let work = session.begin { () async throws(QueueError) in try await queue.wait(for: id) }
        loop.wakeUp.stopOnSignals()
        // A reader of the response may stand still.
        defer { for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_DFL) } }
        queue.start(only: id)
        let deadline = session.deadline
        // The process that sends says that it has expired, unless that process stands still.
        let expiry = self.expiresIn.map { session.loop.now() + $0.duration + Self.patience }
        var told = 0
        let firstLook = loop.now() + Self.lookInterval
        var toldWaiting: WaitingReason?
        while work.result == nil {
            // What cannot be read now is read again.
            let record = try? queue.record(id: id)
            let until = retry.withLock { $0.take() }
            if let record { self.tellRetry(of: record, at: until ?? record.notBefore, after: &told) }
            if let waiting = record?.waiting, waiting.isOfNetwork || waiting == .paused, waiting != toldWaiting,
                loop.now() >= firstLook
            {
                toldWaiting = waiting
                ToolContext.current.say("\(id.text) waits: \(waiting.description.safe)\(waiting.advice(for: id))")
            }
            // A user has to decide, which this command does not wait for.
            if let record, record.state == .held, let reason = record.waiting {
                throw ToolFailure(
                    .unsatisfied,
                    "\(id.text) is held: \(reason.description.safe)\(reason.advice(for: id))"
                )
            }
            let rest = deadline.map { $0 - session.loop.now() }
            if let rest, rest <= .zero {
                self.tellRest(id, in: queue)
                return .timedOut
            }
            let expiryRest = expiry.map { max($0 - session.loop.now(), .seconds(1)) }
            if let expiry, session.loop.now() >= expiry, let record, record.state != .running {
                let sender = queue.otherSender.map { ": \($0) sends, and does not answer" } ?? ""
                throw ToolFailure(.unsatisfied, "\(id.text) has expired, and stays in the queue\(sender)")
            }
            let reasons = loop.reasons(limit: [rest, expiryRest, Self.lookInterval].compactMap { $0 }.min())
            if reasons.contains(.stop), work.result == nil {
                self.tellRest(id, in: queue)
                session.close(within: Self.lookInterval)
                LoopWakeUp.endBySignal()
            }
        }
        guard let record = try work.result?.get() else { return .failure }
        return try self.show(record)
    }

    /// Says why the request is tried again, and when, so that a user who waits for a certain answer sees the other one.
    private func tellRetry(of record: RequestRecord, at date: Date?, after told: inout Int) {
        let ended = record.attempts - (record.state == .running ? 1 : 0)
        // What was not reached uses no retry: its host is left alone instead.
        let pauseEnd: Date? = if case .hostPaused(_, let until)? = record.waiting { until } else { nil }
        guard ended > told, let date = date ?? pauseEnd, let error = record.lastError else { return }
        told = ended
        let rest = DurationText.format(.seconds(max(1, Int(date.timeIntervalSinceNow.rounded(.up)))))
        let (used, limit) = (record.request.retryCount, record.request.maxRetries)
        let times = used == limit ? "for the last time" : "at most \(limit - used + 1) times"
        let retries =
            used < ended ? "\(used) of \(limit) retries used, attempts that reach no server do not count" : times
        ToolContext.current.say("\(error.safe); tries again in \(rest), \(retries) (--max-retries)")
    }

    /// Says that the request goes on without this command.
    private func tellRest(_ id: UUID, in queue: OfflineRequestQueue) {
        // Another process may have the file.
        let record = try? queue.record(id: id)
        var why = record?.waiting.map { "; it waits: \($0.description.safe)\($0.advice(for: id))" } ?? ""
        if record?.state == .running { why = "; it is being sent, and no answer has come yet" }
        let sender = queue.otherSender.map { "; \($0) sends" } ?? ""
        ToolContext.current.say("\(id.text) stays in the queue\(why)\(sender)")
    }

    private func show(_ record: RequestRecord) throws -> ToolStatus {
        do {
            if self.options.json {
                try ToolContext.current.write(record.shown(self.secrets).details.line + "\n")
            } else if let body = record.response?.body, record.state == .succeeded {
                try StandardStream.output.write(body)
            }
        } catch let error as SystemError where record.state == .succeeded && record.response != nil {
            let place = typed("queue show \(record.id.text) --json")
            throw ToolFailure(
                .failure,
                "\(error); \(record.id.text) was delivered, and its response is kept: \(place)"
            )
        }
        if let response = record.response, response.isCut {
            let limit =
                response.body.isEmpty
                ? "the body of the response was left out, as there was no room for it"
                : "the response is cut after \(response.body.count) bytes, see --max-response"
            ToolContext.current.say("\(record.id.text) was delivered; \(limit)")
        }
        guard record.state != .succeeded else { return .satisfied }
        // Its last error is not why it was not delivered.
        let error =
            record.state == .cancelled
            ? "it was cancelled" : record.lastError.map(record.request.redact) ?? record.state.rawValue
        throw ToolFailure(.unsatisfied, "\(record.id.text) was not delivered: \(error.safe)")
    }
}

extension WaitingReason {
    /// Whether only another network ends it.
    fileprivate var isOfNetwork: Bool {
        switch self {
        case .noPath, .portal, .metered, .interfaceType: true
        default: false
        }
    }
}
