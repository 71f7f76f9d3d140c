// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Synchronization

/// The thread of a queue, which does all its work: a loop that takes what came, writes it down in one transaction,
/// sends what may go, and sleeps.
///
/// What must stay true: nobody hears of anything before it is in the file, and a request leaves the file only when its
/// end is what is written down. Everything that comes while a transaction is written shares the next one.
final class QueueWorker {
    /// How long nothing is sent after the file could not be written, since no success could be recorded; twice as long
    /// each time that it fails again.
    private static let patience: Duration = .seconds(1)
    private static let longestPatience: Duration = .seconds(60)
    /// How often it is asked what has become too old.
    private static let expiryInterval: Duration = .seconds(1)

    let core: QueueCore
    let sleep: Sleep
    let relay: Relay

    var machine: DeliveryMachine
    var role = QueueStatus.Role.none
    var isStarted = false
    var lock: SenderLock?
    var network = NetworkView()
    var hosts: HostWatches

    /// What is being sent.
    var flights: [UUID: Flight] = [:]
    var lastRun: UInt64 = 0
    /// What may go next, read ahead so that a free place need not wait for the file.
    var upcoming: [Candidate] = []
    /// The gates that more may go through than was read.
    var unread: [StoreGate] = []
    /// How many were sent since they were read.
    var launches = 0
    /// Those that were read and left to the relay, which may have gone.
    var relayed: [Candidate] = []
    /// The last attempt that was made over a path that is gone.
    var lastOutdatedRun: UInt64 = 0
    /// What was sent, and is not recorded yet.
    var landings: [Landing] = []
    /// Whether one of them is to be recorded at once.
    var isRecordingUrgent = false
    /// The gates of what is ready.
    var gates: [Gate] = []

    /// The only request that this process sends; nil for all.
    var only: OnlyRequest?
    /// When to ask again to be the one that sends; nil when somebody else's end tells that.
    var electionAt: MonotonicTime?
    /// Until when what is under way may come to its end, after which the queue is closed; nil while it goes on.
    var shutdown: Shutdown?
    /// Why the queue is of no use any more.
    var end: QueueError?

    var waiters: [QueueWaiter] = []
    var recent: RecentRequests { self.core.recent }
    var walWatch: Int32?

    /// What the next transaction has to do besides.
    var promotion = Promotion.due
    var releasesRunning = false
    var checksFlights = false
    /// How often other processes wanted what waits to go now.
    var forces: Int64?
    /// What the transaction under way leads to, once it is in the file.
    var effects = TurnEffects()

    private var commands: [QueueCommand] = []
    var isLookDue = false
    private var isClosing = false
    var dueAt: MonotonicTime?
    /// When what could not be written is tried again; nil while nothing is in the way.
    private var failedUntil: MonotonicTime?
    private var failures = 0
    /// What is in the way, once it was said.
    private var reported: QueueError?
    private var repairs = 0
    private var nextExpiry: MonotonicTime?
    private var wasPending = false
    /// Whether everything has just been delivered, after which the file may be much larger than it need be.
    private var isTidyDue = false
    /// Whether others see what is true now.
    var isStatusTrue = false
    /// What other processes were told of it.
    private var report: SenderReport?
    /// Whether the room that was kept for a full disk is used up, or could not be had.
    var isReserveDue = false

    /// Which of those that wait for their time go now.
    enum Promotion {
        case due
        case restored
        case all
    }

    init(core: QueueCore, sleep: Sleep) {
        self.core = core
        self.sleep = sleep
        self.relay = Relay(transport: core.transport, mailbox: core.mailbox)
        self.machine = DeliveryMachine(settings: core.settings.delivery, responses: core.settings.responses)
        self.hosts = HostWatches(mailbox: core.mailbox)
    }

    // MARK: The loop

    func run() {
        while true {
            let now = Moment.ofQueue()
            self.effects.records = !self.core.observers.isEmpty || !self.waiters.isEmpty
            for message in self.core.mailbox.take() { self.receive(message, at: now) }
            self.endHandlers(at: now)
            if self.isClosing || self.end != nil || self.hasShutDown(at: now) { return self.finish() }
            self.standForElection(ifDue: now)
            // Before the file is written, which takes longer than a request to a server nearby.
            if self.commands.isEmpty { self.launch(at: now) } else { self.forgetUpcoming() }
            self.core.shortcut.sends = self.role == .sender && self.network.isSatisfied
            if self.lacksCandidates(at: now) { self.isLookDue = true }
            self.turn(at: now)
            self.stepDown()
            if !self.isStatusTrue {
                self.isStatusTrue = true
                self.core.status.withLock { status in
                    status.role = self.role
                    status.machine = self.machine
                }
                self.writeReport(at: now)
            }
            if self.end != nil || self.hasShutDown(at: now) { continue }
            let deadline = self.deadline(at: .ofQueue())
            self.relay.look(isSoon: deadline.map { $0 <= now.monotonic + .milliseconds(25) } ?? false)
            guard self.core.mailbox.mayRest() else { continue }
            if self.isReserveDue { self.isReserveDue = !self.core.store.takeReserve() }
            if self.isTidyDue {
                self.isTidyDue = false
                // Another time, if it cannot be done.
                try? self.core.store.tidy()
            }
            let wake = self.sleep.wait(until: deadline)
            if wake.contains(.file) { self.lookAround() }
            if wake.contains(.time) { self.isLookDue = true }
        }
    }

    private func writeReport(at now: Moment) {
        // The next time it has the lock, the file is empty again.
        guard self.role == .sender else {
            self.report = nil
            return
        }
        let report = SenderReport(self.machine, gates: self.gates, at: now)
        if self.report != report { self.lock?.write(report.octets) }
        self.report = report
    }

    private func receive(_ message: QueueMessage, at now: Moment) {
        switch message {
        // What they lead to is found out from what was read.
        case .prepared, .finished, .handled: ()
        default:
            self.isLookDue = true
            self.isStatusTrue = false
            if self.only != nil { self.electionAt = now.monotonic }
        }
        switch message {
        case .command(let command): self.commands.append(command)
        // It may be more urgent than what was read ahead.
        case .enqueued: self.forgetUpcoming()
        case .wait(let waiter): self.add(waiter)
        case .abandon(let number): self.abandon(number)
        case .start(let id):
            guard !self.isStarted else { return }
            self.isStarted = true
            self.only = id.map { OnlyRequest(id: $0) }
            self.electionAt = now.monotonic
        case .path(let update): self.network(is: update, at: now)
        case .restored: self.promotion = self.promotion == .all ? .all : .restored
        case .host(let host, let isReachable): self.host(host, isReachable: isReachable, at: now)
        case .prepared(let id, let run, let result): self.prepared(id, run: run, result, at: now)
        case .finished(let id, let run, let result, let next):
            self.finished(id, run: run, result, at: now)
            if let next { self.began(next, at: now) }
        case .handled(let id, let run, let failure): self.handled(id, run: run, failure, at: now)
        case .shutdown(let shutdown): self.begin(shutdown)
        case .close: self.isClosing = true
        }
    }

    /// Another process rang, or ended, or wrote.
    private func lookAround() {
        self.isLookDue = true
        self.forgetUpcoming()
        if self.role == .sender {
            self.checksFlights = true
        } else if self.isStarted {
            self.electionAt = .ofQueue
        }
        do throws(QueueError) { try self.core.store.checkPlace() } catch { return self.failed(error) }
        // It may be another file by now.
        if self.lock != nil { _ = self.sleep.files.add(self.core.store.paths.database, .removed) }
        self.checkWaiters(all: true)
    }

    // MARK: A turn

    private func turn(at now: Moment) {
        let commands = self.commands
        self.commands = []
        let isFailing = self.failedUntil.map { $0 > now.monotonic } ?? false
        let isDue = self.isLookDue || self.recordsNow(at: now)
        let sends = self.role == .sender && isDue && !isFailing
        self.isLookDue = false
        guard !commands.isEmpty || sends else { return }

        self.isStatusTrue = false
        let isDurable = commands.contains { $0.isDurable }
        let (releases, promotion, checksFlights) = (self.releasesRunning, self.promotion, self.checksFlights)
        var replies: [@Sendable (QueueError?) -> Void] = []
        self.effects.records = !self.core.observers.isEmpty || !self.waiters.isEmpty
        let begin = ContinuousClock.now
        do throws(QueueError) {
            try self.core.store.transaction(durable: isDurable) { store in
                // Callers and other processes write, too.
                if store.counts.pending > store.counts.held { self.wasPending = true }
                if releases { try store.releaseRunning() }
                for landing in self.landings { try self.record(landing, in: store) }
                try self.mark(in: store, all: !commands.isEmpty, at: now)
                for command in commands { replies.append(try self.perform(command, in: store)) }
                if sends { try self.plan(in: store, at: now) }
                self.effects.counts = store.counts
                // What this transaction itself acknowledges must be in the file before it may go; everything else is
                // there already, and need not wait for the disk.
                if !isDurable { self.launch(at: now) }
            }
        } catch {
            (self.promotion, self.checksFlights) = (promotion, checksFlights)
            if case .corrupt(_, .some) = error, self.repairs < 3 {
                // It was replaced by what could be read, which can be worked with.
                self.repairs += 1
                self.commands = commands + self.commands
                self.isLookDue = sends
                return self.turn(at: now)
            }
            if case .diskFull = error, sends, !self.landings.isEmpty, self.core.store.giveReserve() {
                // Not for what is new, but what was sent would be sent again. It leaves the file, and makes room.
                self.core.shortcut.answered(commands.count)
                for command in commands { command.refuse(error) }
                self.effects = TurnEffects()
                (self.isReserveDue, self.isLookDue) = (true, true)
                self.turn(at: now)
                try? self.core.store.emptyJournal()
                return
            }
            return self.fail(commands, error)
        }
        if isDurable { self.core.shortcut.measured(.now - begin, commands: commands.count) }
        self.core.shortcut.answered(commands.count)
        // Others could be written again, so that there is something to send.
        if self.failedUntil.take() != nil, !sends { self.isLookDue = true }
        (self.failures, self.reported) = (0, nil)
        self.repairs = 0
        if releases { self.releasesRunning = false }
        self.landings = []
        self.isRecordingUrgent = false
        for id in self.effects.marked { self.flights[id]?.isMarked = true }
        self.remove(self.effects.removed)
        self.launch(at: now)
        // First, because a program may end as soon as it has its answer.
        if !commands.isEmpty, self.role != .sender { self.core.store.ring() }
        for reply in replies { reply(nil) }
        self.hosts.set(Set(self.gates.compactMap(\.requires.hostReachable)))
        self.announce()
    }

    private func perform(
        _ command: QueueCommand,
        in store: StoreTransaction
    ) throws -> @Sendable (QueueError?) -> Void {
        do {
            return try command.perform(self, store)
        } catch let error as QueueError {
            // It changed nothing, and the others need not suffer from it.
            return { _ in command.refuse(error) }
        }
    }

    /// Nothing of the transaction is in the file.
    private func fail(_ commands: [QueueCommand], _ error: QueueError) {
        self.effects = TurnEffects()
        self.forgetUpcoming()
        self.core.shortcut.answered(commands.count)
        for command in commands { command.refuse(error) }
        self.failed(error)
    }

    /// Says what is in the way, once, and when to try again; or ends when that would be in vain.
    func failed(_ error: QueueError) {
        if error.endsQueue {
            self.end = self.end ?? error
        } else {
            // From now on: to find out may have taken longer than this.
            let pause = Backoff.ceiling(attempt: self.failures, base: Self.patience, cap: Self.longestPatience)
            self.failures += 1
            self.failedUntil = .ofQueue + pause
        }
        if error == self.reported { return }
        self.reported = error
        self.core.observers.send([.failed(error)])
    }

    /// When to try again after a failure; nil when nothing failed.
    var retryAt: MonotonicTime? { self.failedUntil }

    /// Says what became true.
    private func announce() {
        let effects = self.effects
        self.effects = TurnEffects()
        let isPending = effects.counts.map { $0.pending > $0.held } ?? true
        let isDrained = self.wasPending && !isPending
        self.wasPending = isPending
        self.isTidyDue = !isPending && (isDrained || self.isTidyDue) && self.role == .sender
        guard effects.records else { return }
        self.core.observers.send(isDrained ? effects.events + [.drained] : effects.events)
        self.checkWaiters(ended: effects.ended, isDrained: !isPending)
    }

    /// Finds out what may go.
    private func plan(in store: StoreTransaction, at now: Moment) throws {
        if store.isPaused { self.machine.pause() } else { self.machine.resume() }
        self.obey(in: store)
        if self.checksFlights {
            for id in self.flights.keys where try store.records.record(id) == nil { self.effects.removed.append(id) }
            self.checksFlights = false
        }
        if self.nextExpiry.map({ $0 <= now.monotonic }) ?? true {
            self.nextExpiry = now.monotonic + Self.expiryInterval
            for id in try store.expire(maxAge: self.core.settings.delivery.maxAge) {
                self.effects.add(.expired(id), ending: id, as: .dead)
                self.forgetUpcoming()
            }
            try store.removeOldResponses()
        }
        self.dueAt = nil
        guard self.network.isSatisfied, !self.machine.isPaused else {
            (self.gates, self.unread) = ([], [])
            return
        }
        try self.promote(in: store)
        self.dueAt = try store.nextDue().map { now.monotonic + $0 + .milliseconds(1) }
        if let only { try self.read(only, in: store, at: now) } else { try self.readAhead(in: store, at: now) }
    }

    private func promote(in store: StoreTransaction) throws {
        let limit = 10_000
        let count =
            switch self.promotion {
            case .due: try store.promoteDue(limit: limit)
            case .restored: try store.promoteUnasked(limit: limit)
            case .all: try store.promoteDue(all: true, limit: limit)
            }
        if count > 0 { self.forgetUpcoming() }
        if count < limit { self.promotion = .due } else { self.isLookDue = true }
    }

    private func deadline(at now: Moment) -> MonotonicTime? {
        guard self.role == .sender else {
            // Commands that fail are their callers' to repeat; only a sender has something of its own.
            return [self.electionAt, self.shutdown?.until].compactMap { $0 }.min()
        }
        if self.isLookDue { return now.monotonic }
        let handled = self.flights.values.lazy.compactMap(\.handledBy).min()
        // One that has passed is due all the same.
        let rest = [self.shutdown?.until, handled].compactMap { $0 }
        if let failedUntil { return (rest + [failedUntil]).min() }
        let wake = self.machine.nextWake(after: now, for: self.gates)
        let mark = self.flights.values.lazy.filter { !$0.isMarked }.map(\.markAt).min()
        return (rest + [wake, self.dueAt, mark, self.recordingDeadline].compactMap { $0 }).min()
    }

    // MARK: The end

    /// Leaves everything as somebody else can take it up.
    private func finish() {
        self.forgetUpcoming()
        for flight in self.flights.values { flight.cancel() }
        if self.role == .sender, self.end == nil {
            try? self.core.store.transaction(durable: false) { store in
                for landing in self.landings { try self.record(landing, in: store) }
                try self.mark(in: store, all: true, at: .ofQueue())
                try self.keepResponses(in: store)
                try store.releaseRunning()
            }
        }
        let error = self.end ?? .closed
        self.role = .none
        self.core.status.withLock { $0.role = .none }
        self.hosts.set([])
        for message in self.core.mailbox.close() {
            switch message {
            case .command(let command): command.refuse(error)
            case .wait(let waiter): waiter.reply(.failure(error))
            case .shutdown(let shutdown): shutdown.reply(false)
            case .finished(_, _, _, let next): next?.task.cancel()
            default: ()
            }
        }
        // What they captured may hold the queue, and with it everything here.
        self.core.handlers.withLock { $0 = [:] }
        for command in self.commands { command.refuse(error) }
        for waiter in self.waiters { waiter.reply(.failure(error)) }
        self.core.observers.end()
        self.core.store.close()
        // The next sender hears of it.
        self.lock = nil
        self.shutdown?.reply(self.flights.isEmpty && self.end == nil)
    }
}
