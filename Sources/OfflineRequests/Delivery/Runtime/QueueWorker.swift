// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathSystem
import Synchronization

/// What a queue does on its executor, a turn at a time: it takes what came, writes it down in one transaction together
/// with what may go next, replies, sends, and names the time of the next turn.
///
/// What must stay true: no caller hears of anything before it is in the file, nothing is sent before the file says so, and
/// a request leaves the file only when its end is what is written down.
final class QueueWorker {
    /// How long nothing is sent after the file could not be written, since no success could be recorded; twice as long
    /// each time that it fails again.
    private static let patience: Duration = .seconds(1)
    private static let longestPatience: Duration = .seconds(60)
    /// The shortest time between two looks for what has expired.
    private static let expiryInterval: Duration = .milliseconds(100)
    /// The same for what has become too old, a look through all requests.
    private static let longestAgeInterval: Duration = .seconds(60)
    /// How often it is looked what another process did to what callers wait for.
    private static let lookInterval: Duration = .milliseconds(500)
    private static let remembered = 256

    let core: QueueCore
    let wakeSource: WakeSource
    var machine: DeliveryMachine
    var network = NetworkView()
    var hosts: HostWatches
    var pathFeed: PathFeed?

    var role = QueueStatus.Role.none { didSet { self.core.store.sends = self.role == .sender } }
    var lock: FileLock?
    /// The only request that this process sends; nil for all.
    var only: UUID?
    /// Says to other processes that it does.
    var claim: FileDescriptor?
    /// When to ask again to be the one that sends; nil when the end of another process tells that.
    var electionAt: MonotonicTime?
    /// Whether a file event came since the last election.
    var senderMayHaveEnded = false
    /// Whether the file says of requests that they are being sent which the last sender was at when it died.
    var releasesRunning = false
    /// How often other processes wanted what waits to go now.
    var forces: Int64?

    var commands: [QueueCommand] = []
    /// Callers that wait for the answers to requests.
    var fetches: [UUID: Fetch] = [:]
    /// Requests that callers want back, as they may be about to be put there.
    var abandonedFetches: Set<UUID> = []
    var flights: [UUID: Flight] = [:]
    var lastRun: UInt64 = 0
    /// What was sent, and is not recorded yet.
    var completed: [CompletedAttempt] = []
    /// Whether others may have removed what is being sent.
    var checksFlights = false
    /// What the transaction under way leads to, once it is in the file.
    var effects = TurnEffects()

    /// The hosts of what waits, while there is no path to the internet.
    private var wantedHosts: Set<String> = []
    /// The gates of what is ready.
    var gates: [Gate] = []
    var waiters: [QueueWaiter] = []
    /// The last few requests of this process, for callers who wait only after their end.
    private(set) var recent: [UUID: RequestRecord] = [:]
    /// When to look what another process did to what callers wait for.
    private var lookAt: MonotonicTime?

    var isClosing = false
    var shutdowns: [Shutdown] = []
    private(set) var hasEnded = false
    /// Why the queue is of no use any more.
    private var end: QueueError?

    /// When the first of those that wait for their time is due.
    private var dueAt: MonotonicTime?
    /// When what could not be written is tried again; nil while nothing is in the way.
    private(set) var retryAt: MonotonicTime?
    private var failures = 0
    /// What is in the way, once it was said.
    private var reported: QueueError?
    /// How many requests the transaction under way changes because their time has come.
    private var stepSize = StoreTransaction.step
    /// Whether the transaction under way has to be a small one.
    var isDiskFull: Bool { self.stepSize < StoreTransaction.step }
    /// When the first request becomes too old, and when the first request or response is of no use any more.
    var tooOldAt: MonotonicTime?
    var uselessAt: MonotonicTime?
    private var wasPending = false

    /// Makes one; nil when the system grants no descriptors.
    init?(core: QueueCore, on queue: DispatchQueue) {
        let wakeSource = WakeSource(
            on: queue,
            fileChanged: { [weak core] in core?.post { worker, _ in worker.filesChanged() } },
            timeCame: { [weak core] in core?.post { worker, _ in worker.wakeSource.wasWoken() } }
        )
        guard let wakeSource else { return nil }
        self.core = core
        self.wakeSource = wakeSource
        self.machine = DeliveryMachine(settings: core.settings)
        self.hosts = HostWatches(core: core)
    }

    // MARK: A turn

    func turn(_ messages: [QueueCore.Message]) {
        if self.hasEnded { return }
        let now = Moment.now()
        for message in messages { message(self, now) }
        // By no timer alone: where it has passed, none is set.
        if let lookAt, lookAt <= now.monotonic {
            self.lookAt = nil
            self.checkWaiters(all: true)
        }
        self.endHandlers(at: now)
        if self.isOver(at: now) { return self.finish() }
        self.elect(at: now)
        let hasWritten = self.write(at: now)
        let after = Moment.now()
        self.releaseFetches(at: after)
        if self.isOver(at: after) { return self.finish() }
        if self.stepDown() || !hasWritten { self.publish(at: after) }
        // As of the moment that was decided for: what opened since then is due, and not past.
        let deadline = self.deadline(at: now)
        if let deadline, deadline <= after.monotonic {
            self.core.post { _, _ in }
        } else {
            self.wakeSource.wake(at: deadline, now: after.monotonic)
        }
    }

    private func isOver(at now: Moment) -> Bool { self.isClosing || self.end != nil || self.hasShutDown(at: now) }

    /// Another process notified this one, or ended, or wrote.
    func filesChanged() {
        self.senderMayHaveEnded = true
        do throws(QueueError) {
            try self.core.store.checkPlace()
            if self.lock != nil {
                // It may be another file by now, and hears nothing of it when its folder gets another name.
                try self.watch(self.core.store.paths.database, .removed)
                try self.watch(self.core.store.paths.folder, .removed)
            }
        } catch {
            return self.failed(error)
        }
        self.checkWaiters(all: true)
    }

    func watch(_ path: String, _ event: FileWatch.Event) throws(QueueError) {
        guard self.wakeSource.files.add(path, event) else {
            throw .io(path: path, reason: "it cannot be watched: it is gone, or fs.inotify.max_user_watches is too low")
        }
    }

    /// Remembers a request, without its body and its response.
    func remember(_ record: RequestRecord) {
        var record = record
        (record.request.body, record.response, record.waiting) = (nil, nil, nil)
        if self.recent.count >= Self.remembered { self.recent.removeAll(keepingCapacity: true) }
        self.recent[record.id] = record
    }

    /// Writes down everything that came, and what may go now, and does what follows; returns whether that was anything.
    private func write(at now: Moment) -> Bool {
        let commands = self.commands
        self.commands = []
        let sends = self.role == .sender && self.retryAt.map { $0 <= now.monotonic } ?? true
        guard sends || !commands.isEmpty else { return false }
        var replies: [@Sendable () -> Void] = []
        let (machine, forces) = (self.machine, self.forces)
        // What a caller hears of has to survive the loss of power.
        let isDurable = !commands.isEmpty
        var completed = self.completed[...]
        let size =
            commands.reduce(0) { $0 + $1.size } + completed.reduce(0) { $0 + ($1.keptResponse?.body.count ?? 0) }
        self.stepSize = StoreTransaction.step
        for attempt in 0...3 {
            do throws(QueueError) {
                (self.effects, replies) = (TurnEffects(), [])
                try self.core.store.transaction(durable: isDurable, inserting: self.isDiskFull ? nil : size) { store in
                    if store.othersWrote {
                        // What they cancelled ends before the next of its lane begins.
                        self.checksFlights = true
                        self.effects.wasPending = try !store.counts.isDrained
                    }
                    if self.releasesRunning { try store.releaseRunning() }
                    for done in completed { try self.record(done, in: store) }
                    for command in commands { replies.append(try command.perform(self, store)) }
                    if sends { try self.plan(in: store, at: now) }
                    self.effects.isPending = try !store.counts.isDrained
                }
                break
            } catch {
                // Nothing of it is in the file.
                (self.machine, self.forces) = (machine, forces)
                (self.tooOldAt, self.uselessAt) = (now.monotonic, now.monotonic)
                // One that was damaged was replaced by what could be read, which can be worked with.
                if case .corrupt(_, .some) = error, attempt < 3 { continue }
                // On a full disk nothing new is taken, and the rest goes in small steps: with the room there is, and then
                // with what is reserved for that; one by one at last, as each may have a large answer.
                if case .diskFull = error, attempt < 3 {
                    if attempt > 0 { self.core.store.makeRoom() }
                    self.stepSize = attempt < 2 ? 16 : 1
                    completed = self.completed.prefix(1)
                    continue
                }
                for command in commands { command.refuse(error) }
                self.failed(error)
                return false
            }
        }
        if self.retryAt.take() != nil, !sends { self.core.post { _, _ in } }
        (self.failures, self.reported) = (0, nil)
        self.releasesRunning = false
        self.completed.removeFirst(completed.count)
        let effects = self.effects
        if sends { self.checksFlights = false }
        self.remove(effects.removed)
        let isDrained = (self.wasPending || effects.wasPending) && !effects.isPending
        self.wasPending = effects.isPending
        // These first, because a program may end as soon as it has its answer.
        if isDrained { self.core.store.emptyJournal() }
        if !commands.isEmpty, self.role != .sender { self.core.store.notifySender() }
        self.publish(at: now)
        for reply in replies { reply() }
        self.replyToFetches(effects)
        for ready in effects.starts { self.start(ready, at: now) }
        if sends {
            self.watchHosts(self.wantedHosts.union(self.flights.values.map { $0.record.request.host }))
        }
        self.announce(effects, isDrained: isDrained)
        return true
    }

    private func plan(in store: StoreTransaction, at now: Moment) throws {
        self.machine.isPaused = store.status.isPaused
        self.applyForces(in: store)
        if self.checksFlights {
            for id in self.flights.keys where try store.records.record(id) == nil { self.effects.removed.append(id) }
        }
        let isUpToDate = try self.expire(in: store, at: now)
        (self.gates, self.dueAt, self.wantedHosts) = ([], nil, [])
        // More have expired than one transaction gives up: none of the others is sent.
        guard isUpToDate else {
            self.dueAt = now.monotonic
            return
        }
        guard let facts = self.machine.facts, !self.machine.isPaused else { return }
        if !facts.isSatisfied { self.wantedHosts = try self.hosts(in: store) }
        guard facts.leadsSomewhere else { return }
        let limit = self.stepSize
        let promoted = try store.promoteDue(self.machine.promotion, limit: limit)
        if promoted < limit { self.machine.promotion = .due }
        self.dueAt =
            promoted < limit ? try store.nextDue().map { now.monotonic + $0 + .milliseconds(1) } : now.monotonic
        let heads = try self.heads(in: store, at: now)
        // Without it another process may send them.
        if !heads.isEmpty { try self.lock?.checkPlace() }
        for ready in heads {
            let record = ready.record
            // It was read a moment ago.
            guard try store.markRunning(record.id) else {
                throw StoreDamage(message: "the index of identifiers does not lead to \(record.id)")
            }
            self.effects.starts.append(ready)
            // Only to have a response handled is no attempt.
            if record.response == nil { self.effects.events.append(.attempt(record.id, number: record.attempts + 1)) }
        }
        // One at a time, and the next at once: what is being sent may take long.
        if self.isDiskFull, !heads.isEmpty { self.dueAt = now.monotonic }
    }

    /// Gives up what is too old by now, and finds out when something will be.
    ///
    /// - Returns: Whether none is left that has expired.
    private func expire(in store: StoreTransaction, at now: Moment) throws -> Bool {
        let maxAge = self.core.settings.maxAge
        // Who sends one request only does not judge the others by its own settings.
        if self.only != nil { self.tooOldAt = nil }
        let (isUseless, isTooOld) = (self.uselessAt.isPast(now), self.tooOldAt.isPast(now))
        // In every turn, so that an attempt that ends late is not followed by another one.
        let late = try store.giveUpLate(limit: self.stepSize)
        let old: StoreTransaction.Expired =
            try isTooOld ? store.giveUpOld(maxAge: maxAge, limit: self.stepSize) : (requests: [], isAll: true)
        self.tellExpired(late.requests + old.requests)
        if isUseless { try store.removeOldResponses() }
        // Only what was put there, or is not being sent any more, can be due sooner than what was known.
        if isUseless || isTooOld || store.othersWrote || !self.effects.events.isEmpty {
            func time(_ rest: Duration, atLeast interval: Duration) -> MonotonicTime {
                now.monotonic + max(rest, interval)
            }
            // Turns that follow one another do not put off what is due.
            let known = isUseless ? nil : self.uselessAt
            let deadline = try store.nextDeadline().map { time($0, atLeast: Self.expiryInterval) }
            self.uselessAt = [deadline, known].compactMap(\.self).min()
            // What is put there later is younger.
            if self.only == nil, self.tooOldAt == nil || isTooOld {
                let interval = max(Self.expiryInterval, min(maxAge / 100, Self.longestAgeInterval))
                self.tooOldAt = try store.nextAge(maxAge: maxAge).map { time($0, atLeast: interval) }
            }
        }
        if !old.isAll { self.tooOldAt = now.monotonic }
        return late.isAll && old.isAll
    }

    func tellExpired(_ expired: [(id: UUID, finish: Finish)]) {
        for (id, finish) in expired {
            self.effects.events.append(finish.state == .held ? .held(id, .laneHeld) : .expired(id))
            self.effects.events += finish.dropped.map { .dead($0, reason: "its lane was given up") }
        }
    }

    private func announce(_ effects: TurnEffects, isDrained: Bool) {
        self.core.observers.send(isDrained ? effects.events + [.drained] : effects.events)
        self.checkWaiters(ended: effects.ended, isDrained: !effects.isPending)
        // The file may be much larger than it need be; another time, if that cannot be changed now.
        if isDrained, self.role == .sender { try? self.core.store.tidy() }
    }

    /// Says what is in the way, once, and when to try again; or ends when that would be in vain.
    func failed(_ error: QueueError) {
        if error.endsQueue {
            self.end = self.end ?? error
        } else {
            // From now on: to find out may have taken longer than this.
            let pause = Backoff.ceiling(attempt: self.failures, base: Self.patience, cap: Self.longestPatience)
            self.failures += 1
            self.retryAt = Moment.now().monotonic + pause
            if self.pathFeed != nil, self.role != .sender { self.electionAt = self.retryAt }
        }
        if error == self.reported { return }
        self.reported = error
        self.core.observers.send([.failed(error)])
    }

    private func publish(at now: Moment) {
        // Who does not send says nothing.
        let report =
            [.sender, .standby].contains(self.role)
            ? SenderReport(self.machine, gates: self.gates, only: self.only, at: now) : SenderReport()
        let isNew = self.core.status.withLock { status in
            defer { (status.role, status.report) = (self.role, report) }
            return status.role != self.role || status.report != report
        }
        if isNew, self.role == .sender { self.lock?.write(report.bytes) }
    }

    private func deadline(at now: Moment) -> MonotonicTime? {
        var times = [self.shutdowns.map(\.until).min(), self.flights.values.lazy.compactMap(\.handledBy).min()]
        // A sender knows of the ends of requests, but for those that it could not read.
        let looks = self.waiters.contains { self.role != .sender || $0.unreadSince != nil }
        self.lookAt = looks ? self.lookAt ?? now.monotonic + Self.lookInterval : nil
        times.append(self.lookAt)
        if self.role != .sender {
            // Commands that fail are their callers' to repeat; only a sender has something of its own.
            times.append(self.electionAt)
        } else if let retryAt {
            times.append(retryAt)
        } else {
            let wake = self.machine.nextWake(after: now, for: self.gates)
            times += [wake, self.dueAt, self.tooOldAt, self.uselessAt, self.completed.isEmpty ? nil : now.monotonic]
        }
        return times.compactMap { $0 }.min()
    }

    // MARK: The end

    /// Leaves everything as another process can take it up.
    private func finish() {
        self.hasEnded = true
        self.takeBackPreparing()
        for flight in self.flights.values { flight.cancel() }
        var isDone = self.flights.isEmpty && self.end == nil
        if self.role == .sender, self.end == nil {
            self.effects = TurnEffects()
            do throws(QueueError) {
                try self.core.store.transaction(durable: false) { store in
                    for done in self.completed { try self.record(done, in: store) }
                    try self.keepResponses(in: store)
                    try store.releaseRunning()
                }
                self.replyToFetches(self.effects)
            } catch {
                isDone = false
            }
        }
        for message in self.core.take(last: true) { message(self, .now()) }
        let error = self.end ?? .closed
        self.core.status.withLock { $0.role = .none }
        self.pathFeed = nil
        self.hosts.set([])
        self.wakeSource.cancel()
        // What they captured may hold the queue, and with it everything here.
        self.core.handlers.withLock { $0 = [:] }
        // First, because those that hear of the end may move or remove the file.
        self.core.store.close()
        // The next sender hears of it.
        (self.lock, self.claim) = (nil, nil)
        for command in self.commands { command.refuse(error) }
        for waiter in self.waiters { waiter.reply(.failure(error)) }
        for (id, fetch) in self.fetches { fetch.reply(.kept(id)) }
        self.core.observers.end()
        for shutdown in self.shutdowns { shutdown.reply(isDone) }
    }
}

/// What a transaction leads to once it is in the file.
struct TurnEffects {
    var events: [QueueEvent] = []
    /// Those that were removed, which may be being sent.
    var removed: [UUID] = []
    /// Those that go now.
    var starts: [ReadyRequest] = []
    /// Callers that wait for the answers to requests that were put there, and what others hear.
    var fetches: [UUID: Fetch] = [:]
    var fetchEnds: [UUID: FetchEnd] = [:]
    /// Whether anything that others put there waited for being sent before, and whether anything does afterwards.
    var wasPending = false
    var isPending = false

    /// The requests that ended.
    var ended: Set<UUID> {
        self.events.reduce(into: []) { ended, event in
            switch event {
            case .succeeded(let id, _), .dead(let id, _), .expired(let id), .cancelled(let id): ended.insert(id)
            default: ()
            }
        }
    }
}

extension MonotonicTime? {
    fileprivate func isPast(_ now: Moment) -> Bool { self.map { $0 <= now.monotonic } ?? false }
}
