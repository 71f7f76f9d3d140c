// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import OfflineRequests
import Synchronization

extension QueueCommands.Run: RunnableCommand {
    /// How often a process that is not the one that sends looks whether anything is left; events are its own only.
    private static let lookInterval: Duration = .seconds(1)
    /// How long the last events may take to arrive after what they tell is recorded.
    private static let patience: Duration = .milliseconds(500)

    /// How long the file may be unreadable before that is the end of one that runs until it is empty.
    private static let longestUnreadable: Duration = .seconds(10)

    /// How long what is under way may take after a signal: Docker kills after ten seconds.
    private static let usualGrace: Duration = .seconds(8)

    func run(in session: QueueSession) throws -> ToolStatus {
        let loop = session.loop
        loop.wakeUp.stopOnSignals()
        let isNew = session.file.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let queue = try session.openToSend(self.options, trusting: self.trust, within: self.timeout)
        if isNew { ToolContext.current.say("\(queue.file.safe): there was no queue here; this is a new one") }
        let events = Mutex<[SeenEvent]>([])
        let evidence = queue.observe { event in
            let isFirst = events.withLock { events in
                events.append(SeenEvent(event: event, time: Date()))
                return events.count == 1
            }
            if isFirst { loop.wakeUp.wake(.output) }
        }
        let report = RunReport(queue: queue, isJSON: self.options.json)
        defer {
            evidence.cancel()
            session.close()
            report.end()
        }
        let hasWork = (try? queue.counts.isDrained) != true
        queue.start()
        let deadline = session.deadline
        var drainedAt: MonotonicTime?
        var shutdown: QueueSession.Work<Bool>?
        var pausedAt: MonotonicTime?
        var unreadableAt: MonotonicTime?
        // By then it is known which process sends.
        var firstLook: MonotonicTime? = loop.now() + Self.lookInterval
        while true {
            session.tellDamage()
            if let time = firstLook, loop.now() >= time {
                firstLook = nil
                if let other = queue.otherSender {
                    ToolContext.current.say("\(queue.file.safe): \(other) sends; this one takes over when that ends")
                }
            }
            let seen = events.withLock { exchange(&$0, with: []) }
            try report.show(seen, at: loop.now())
            for case .failed(let error) in seen.map(\.event) where error.endsQueue { throw ToolFailure(error) }
            if shutdown?.result != nil { return .satisfied }
            // It may be repaired meanwhile, or be free again; what cannot be read is not empty.
            var (counts, isPaused) = (QueueCounts?.none, pausedAt != nil)
            do throws(QueueError) {
                counts = try queue.counts
                isPaused = try queue.isPaused
                unreadableAt = nil
            } catch {
                // Its own repair may take long.
                let begin = queue.isRepairing ? loop.now() : unreadableAt ?? loop.now()
                unreadableAt = begin
                if self.untilEmpty, loop.now() - begin >= Self.longestUnreadable { throw ToolFailure(error) }
            }
            if isPaused, pausedAt == nil {
                ToolContext.current.say("\(queue.file.safe): the queue is paused: \(typed("queue resume"))")
            }
            pausedAt = isPaused ? pausedAt ?? loop.now() : nil
            drainedAt = self.untilEmpty && counts?.isDrained == true ? drainedAt ?? loop.now() : nil
            if let drainedAt, let counts {
                let isLast = seen.contains { $0.event == .drained } || loop.now() - drainedAt >= Self.patience
                // What was lost with a file that was damaged or removed was not delivered.
                if isLast || !hasWork { return queue.salvages.isEmpty ? self.status(counts) : .unsatisfied }
            }
            // What was under way when it was paused goes on.
            if self.untilEmpty, let pausedAt, loop.now() - pausedAt >= Self.patience, counts?.running == 0 {
                return .unsatisfied
            }
            if let deadline, loop.now() >= deadline {
                // What cannot be read now would make it wait once more.
                if let counts { self.tell(counts, of: queue, in: session) }
                session.close(within: Self.lookInterval)
                return .timedOut
            }
            let pauseRest = pausedAt.map { $0 + Self.patience - loop.now() }.flatMap { $0 > .zero ? $0 : nil }
            let limits = [
                report.rest(at: loop.now()), deadline.map { $0 - loop.now() },
                self.untilEmpty ? Self.lookInterval : nil, drainedAt.map { $0 + Self.patience - loop.now() },
                self.untilEmpty ? pauseRest : nil, firstLook.map { max(.zero, $0 - loop.now()) },
            ]
            guard loop.reasons(limit: limits.compactMap { $0 }.min()).contains(.stop) else { continue }
            if shutdown != nil { return .satisfied }
            let grace = self.grace?.duration ?? Self.usualGrace
            shutdown = session.begin { () async throws(QueueError) in await queue.shutdown(within: grace) }
        }
    }

    private func status(_ counts: QueueCounts) -> ToolStatus {
        let all = [(counts.held, "held"), (counts.blocked, "behind others"), (counts.dead, "given up")]
        let parts = all.filter { $0.0 > 0 }
        if parts.isEmpty { return .satisfied }
        let advice = "\(typed("queue")) and \(typed("queue dead")) show why"
        ToolContext.current.say("\(parts.map { "\($0) \($1)" }.joined(separator: ", ")): \(advice)")
        return .unsatisfied
    }

    private func tell(_ counts: QueueCounts, of queue: OfflineRequestQueue, in session: QueueSession) {
        let first = session.wait(within: Self.lookInterval) { () async throws(QueueError) in
            try await queue.requests(in: RequestState.pending, limit: 1).first
        }
        let waiting = (try? first?.get())?.waiting.map { "; the first one waits: \($0.description.safe)" } ?? ""
        let pending = counts.pending == 1 ? "1 request is" : "\(counts.pending) requests are"
        ToolContext.current.say("\(pending) left\(waiting)")
    }
}

/// An event and when it was seen.
struct SeenEvent: Sendable {
    let event: QueueEvent
    let time: Date
}
