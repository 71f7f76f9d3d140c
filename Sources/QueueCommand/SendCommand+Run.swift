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

    func run(in session: QueueSession) throws -> ToolStatus {
        let queue =
            self.wait
            ? try session.openToSend(self.options, trusting: self.trust, within: self.timeout) : try session.open()
        let request = try self.request(bodyLimit: queue.settings.maxBodyBytes)
        let id = try session.wait { () async throws(QueueError) in try await queue.enqueue(request) }
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
        // It is held until a user decides, which this command does not wait for.
        let held = Mutex<WaitingReason?>(nil)
        let loop = session.loop
        let evidence = queue.observe { event in
            guard case .held(id, let reason) = event else { return }
            held.withLock { $0 = reason }
            loop.wakeUp.wake(.output)
        }
        defer { evidence.cancel() }
        let work = session.begin { () async throws(QueueError) in try await queue.wait(for: id) }
        queue.start(only: id)
        let deadline = self.timeout.map { session.loop.now() + $0.duration }
        // The process that sends says that it has expired, unless that process stands still.
        let expiry = self.expiresIn.map { session.loop.now() + $0.duration + Self.patience }
        while work.result == nil {
            if let reason = held.withLock({ $0 }) {
                throw ToolFailure(
                    .unsatisfied,
                    "\(id.text) is held: \(reason.description.safe)\(reason.advice(for: id))"
                )
            }
            let rest = deadline.map { $0 - session.loop.now() }
            if let rest, rest <= .zero { return try self.timedOut(id, in: queue) }
            let expiryRest = expiry.map { max($0 - session.loop.now(), .seconds(1)) }
            if let expiry, session.loop.now() >= expiry, try queue.record(id: id)?.state != .running {
                let sender = queue.otherSender.map { ": \($0) sends, and does not answer" } ?? ""
                throw ToolFailure(.unsatisfied, "\(id.text) has expired, and stays in the queue\(sender)")
            }
            _ = session.loop.reasons(limit: [rest, expiryRest].compactMap { $0 }.min())
        }
        guard let record = try work.result?.get() else { return .failure }
        return try self.show(record)
    }

    private func timedOut(_ id: UUID, in queue: OfflineRequestQueue) throws -> ToolStatus {
        let waiting = (try queue.record(id: id)?.waiting).map { "; it waits: \($0.description.safe)" } ?? ""
        let sender = queue.otherSender.map { "; \($0) sends" } ?? ""
        ToolContext.current.say("\(id.text) stays in the queue\(waiting)\(sender)")
        return .timedOut
    }

    private func show(_ record: RequestRecord) throws -> ToolStatus {
        if self.options.json {
            try ToolContext.current.write(record.shown(self.secrets).details.line + "\n")
        } else if let body = record.response?.body, record.state == .succeeded {
            try FileHandle.standardOutput.write(contentsOf: Data(body))
        }
        if let response = record.response, response.isCut {
            let limit = "cut after \(response.body.count) bytes"
            ToolContext.current.say("\(record.id.text) was delivered; the response is \(limit), see --max-response")
        }
        guard record.state != .succeeded else { return .satisfied }
        let error = record.lastError.map(record.request.redact) ?? record.state.rawValue
        throw ToolFailure(.unsatisfied, "\(record.id.text) was not delivered: \(error.safe)")
    }
}
