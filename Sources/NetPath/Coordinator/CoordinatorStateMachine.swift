// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The coordinator without input and output: what happens in, what to do out.
///
/// Every input is a mutating method that takes the time and returns the actions to perform, in order. The caller
/// performs them, and wakes the machine at ``nextDeadline``.
struct CoordinatorStateMachine: Sendable, Codable {
    // Here as in all that a checkpoint holds: the names in recordings, which stay when a member is renamed.
    private enum CodingKeys: String, CodingKey {
        case members, snapshots, settings, startedAt, asksOnce, inputs, snapshotsVersion, statements, lastID, damper
        case sequence, graceUntil, decided, published
    }

    /// What the performer has to do.
    enum Action: Sendable {
        /// Start a backend; its inputs carry the generation, so that late reports of an earlier run are told apart.
        case run(backend: Int, generation: Int)
        /// End a backend's run; its end is an input.
        case cancel(backend: Int)
        /// Ask a backend to read everything again.
        case refresh(backend: Int)
        /// Tell the operator something about a backend.
        case warn(backend: Int, String)
        /// Hand a path to all subscribers.
        case publish(Shared<NetworkPath>)
    }

    /// The first publication waits this long for the highest-priority backend.
    static let firstPublicationLimit: Duration = .milliseconds(200)
    /// Waking up this late means that the process did not run: it was stopped, or the machine slept.
    static let oversleptAfter: Duration = .milliseconds(500)

    var members: [CoordinatorMember] = []
    /// What every member said and how it is doing, at the same positions.
    ///
    /// Large: what every event does names them by position, and copies none.
    var snapshots: [BackendSnapshot] = []
    var settings: CoordinatorSettings
    var startedAt: MonotonicTime?
    /// Whether a backend that has reported may end.
    private(set) var asksOnce = false
    /// The number of inputs so far: tells what came first where the clock does not.
    var inputs: UInt64 = 0
    /// The number of changes of verdicts so far.
    var snapshotsVersion: UInt64 = 0
    /// What backends state of interfaces that others see, in order of priority; nil when nothing.
    var statements: [InterfaceStatement]?
    private var lastID = -1
    private var damper = Damper()
    private var sequence: UInt64 = 0
    /// Until when no silence counts, because the process did not run for a while.
    private var graceUntil: MonotonicTime?
    /// What the verdicts come to, before required probes and damping.
    private var decided: Shared<NetworkPath>?
    private(set) var published: Shared<NetworkPath>?
    var path: NetworkPath? { self.published?.value }

    init(backends: [(name: String, mode: BackendMode)], settings: CoordinatorSettings) {
        self.settings = settings
        self.members = backends.map { _ in self.newMember() }
        self.snapshots = backends.map { BackendSnapshot(name: $0.name, mode: $0.mode) }
    }

    /// What every backend said, and when it lost its verdict.
    var standings: [BackendStanding] {
        zip(self.snapshots, self.members).map { BackendStanding(snapshot: $0, record: $1.record) }
    }

    func position(of id: Int) -> Int? { self.members.indices.first { self.members[$0].id == id } }

    mutating func newMember() -> CoordinatorMember {
        self.lastID += 1
        return CoordinatorMember(id: self.lastID)
    }

    // MARK: Inputs

    mutating func start(once: Bool = false, now: MonotonicTime) -> [Action] {
        precondition(self.startedAt == nil, "a coordinator starts once")
        self.startedAt = now
        self.asksOnce = once
        self.inputs += 1
        return self.supervise(now: now)
    }

    mutating func report(
        backend id: Int,
        generation: Int,
        evidence: Evidence,
        now: MonotonicTime
    ) -> [Action] {
        guard let index = self.position(of: id), self.members[index].supervision.spoke(generation: generation)
        else { return [] }
        var evidence = evidence.ofThisMachine
        if let statements { evidence.statements = statements }
        self.inputs += 1
        self.snapshotsVersion += 1
        let concernsOthers =
            self.members.indices.contains { $0 != index && self.members[$0].supervision.isRunning }
            && evidence.concernsOthers(after: self.snapshots[index].evidence)
        let hadVerdict = self.snapshots[index].report.hasVerdict
        self.members[index].take(
            evidence,
            as: &self.snapshots[index],
            policy: self.settings.evaluation,
            newest: self.newestReading(besides: index),
            input: self.inputs,
            now: now
        )

        var actions = self.supervise(now: now)
        actions += self.settle(now: now)
        // A backend that is wedged is found out at the next event, without any tick. Only a change asks: an answer to
        // a refresh that says the same again must not be answered with another refresh. Those who take over from one that
        // cannot tell any more have to read everything anew, too.
        let isLost = hadVerdict && !self.snapshots[index].report.hasVerdict
        if concernsOthers || isLost { actions += self.refreshOthers(than: index, now: now) }
        // A backend that comes back with an outdated reading is asked for a new one.
        if self.members[index].outdatedReports > 0 { actions += self.refresh(index, now: now) }
        return actions
    }

    /// Takes word that a backend runs and its source tells nothing; a report makes it healthy again.
    mutating func unavailable(
        backend id: Int,
        generation: Int,
        error: String,
        now: MonotonicTime
    ) -> [Action] {
        guard let index = self.position(of: id), self.members[index].supervision.spoke(generation: generation)
        else { return [] }
        self.inputs += 1
        let report = self.snapshots[index].report
        // Said again for every refresh, which is an answer and no news.
        if report.health == .unhealthy, report.error == error { return [] }
        let failure = self.fail(index, error, hasEnded: false, now: now)
        return failure + self.settle(now: now)
    }

    mutating func ended(
        backend id: Int,
        generation: Int,
        error: String?,
        jitter: Double,
        now: MonotonicTime
    ) -> [Action] {
        guard let index = self.position(of: id) else { return [] }
        self.inputs += 1
        let mayEnd = self.asksOnce && error == nil
        switch self.members[index].supervision.ended(generation: generation, mayEnd: mayEnd, jitter: jitter, now: now) {
        case .ofAnotherRun, .asRequested, .done: return []
        case .startAgain: return self.run(index, now: now)
        case .failed:
            let error = error ?? "ended without being asked to"
            // Said once, and not at each attempt.
            let report = self.snapshots[index].report
            let isKnown = report.health == .unhealthy && report.error == error
            let warning = isKnown ? [] : [Action.warn(backend: id, "\(error); \(BackendReport.restart)")]
            return warning + self.fail(index, error, hasEnded: true, now: now) + self.settle(now: now)
        }
    }

    /// Whether a backend was asked once, and has answered and ended.
    func isDone(_ id: Int) -> Bool { self.position(of: id).map { self.members[$0].supervision.isDone } ?? false }

    /// Asks every running backend to read everything again.
    mutating func refresh(now: MonotonicTime) -> [Action] {
        self.inputs += 1
        return self.refreshOthers(than: nil, now: now)
    }

    /// Does what is due.
    mutating func wake(now: MonotonicTime) -> [Action] {
        self.inputs += 1
        var actions: [Action] = []
        for index in self.members.indices {
            guard let due = self.members[index].supervision.restartDeadline, due <= now else { continue }
            self.snapshots[index].report.restarts += 1
            actions += self.run(index, now: now)
        }
        // A backend that was stopped together with this process gets time to report before its silence counts.
        if let graceUntil {
            guard graceUntil <= now else { return actions + self.settle(now: now) }
            self.graceUntil = nil
        } else if let due = self.judgementDeadline, now - due >= Self.oversleptAfter {
            self.graceUntil = now + Supervision.answerLimit
            return actions + self.refreshOthers(than: nil, now: now)
        }
        for index in self.members.indices {
            actions += self.judge(index, now: now)
            if let until = self.members[index].record.awaitedUntil, until <= now {
                self.members[index].record.awaitedUntil = nil
            }
            if let deadline = self.snapshots[index].verdict?.reviseAt, deadline <= now {
                self.snapshotsVersion += 1
                self.evaluate(index, now: now)
            }
        }
        if let due = self.ignoranceDeadline, due <= now { actions += self.supervise(now: now) }
        return actions + self.settle(now: now)
    }

    /// The earliest moment at which ``wake(now:)`` has something to do; nil when only an event can change anything.
    var nextDeadline: MonotonicTime? {
        var earliest = self.graceUntil ?? self.judgementDeadline
        for index in self.members.indices { earliest.lower(to: self.members[index].supervision.restartDeadline) }
        return earliest
    }

    /// The earliest moment at which silence or the passing of time means something.
    private var judgementDeadline: MonotonicTime? {
        var earliest = self.damper.deadline
        earliest.lower(to: self.firstPublicationDeadline)
        earliest.lower(to: self.ignoranceDeadline)
        for index in self.members.indices {
            earliest.lower(to: self.members[index].supervision.silenceDeadline)
            earliest.lower(to: self.members[index].record.awaitedUntil)
            earliest.lower(to: self.snapshots[index].verdict?.reviseAt)
        }
        return earliest
    }

    /// When a backend has had no verdict for so long that those on standby may be started.
    private var ignoranceDeadline: MonotonicTime? {
        var earliest: MonotonicTime?
        for index in self.members.indices { earliest.lower(to: self.members[index].absence?.deadline) }
        guard earliest != nil, self.snapshots.contains(where: { $0.report.health == .standby }) else { return nil }
        return earliest
    }

    // MARK: Steps

    /// When the last reading of another backend began that sees or states paths and had a verdict.
    private func newestReading(besides index: Int) -> MonotonicTime? {
        var newest: MonotonicTime?
        for other in self.members.indices where other != index && self.snapshots[other].reportsPaths {
            guard self.members[other].record.hadVerdict else { continue }
            newest = max(self.members[other].record.read.time, newest ?? self.members[other].record.read.time)
        }
        return newest
    }

    mutating func run(_ index: Int, now: MonotonicTime) -> [Action] {
        guard let generation = self.members[index].supervision.start(now: now) else { return [] }
        // After a failure the health stays "unhealthy" until the first report: a backend that keeps failing must not
        // look like a change each time it is tried again.
        return [.run(backend: self.members[index].id, generation: generation)]
    }

    /// Turns what a backend said last into a verdict once more.
    mutating func evaluate(_ index: Int, now: MonotonicTime) {
        guard let evidence = self.snapshots[index].evidence else { return }
        self.members[index].evaluate(
            evidence,
            as: &self.snapshots[index],
            policy: self.settings.evaluation,
            input: self.inputs,
            now: now
        )
    }

    private mutating func judge(_ index: Int, now: MonotonicTime) -> [Action] {
        let id = self.members[index].id
        switch self.members[index].supervision.judge(now: now) {
        case nil: return []
        case .silent(let error): return self.fail(index, error, hasEnded: false, now: now)
        case .cancel: return [.cancel(backend: id)]
        case .ignoresCancellation:
            let error = "did not end within 2 s of being cancelled"
            // Of one that is not needed it is a warning and no failure.
            guard self.snapshots[index].report.health != .standby, self.snapshots[index].report.mode != .off
            else { return [.warn(backend: id, error)] }
            return [.warn(backend: id, error)] + self.fail(index, error, hasEnded: false, now: now)
        }
    }

    /// Notes a failure; who has ended may be back at once.
    private mutating func fail(_ index: Int, _ error: String, hasEnded: Bool, now: MonotonicTime) -> [Action] {
        self.snapshotsVersion += 1
        let hadVerdict = self.snapshots[index].report.hasVerdict
        if hadVerdict { self.members[index].record.silenced = VerdictHistory.Moment(input: self.inputs, time: now) }
        if !hasEnded {
            self.members[index].record.awaitedUntil = nil
        } else if hadVerdict {
            self.members[index].record.awaitedUntil = now + VerdictHistory.returnLimit
        }
        self.snapshots[index].report.health = .unhealthy
        self.snapshots[index].report.error = error
        let actions = self.supervise(now: now)
        // The backend that takes over has to read everything again first.
        return hadVerdict ? actions + self.refreshOthers(than: index, now: now) : actions
    }

    mutating func refreshOthers(than speaker: Int?, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for index in self.members.indices where index != speaker { actions += self.refresh(index, now: now) }
        return actions
    }

    private mutating func refresh(_ index: Int, now: MonotonicTime) -> [Action] {
        guard self.members[index].supervision.canBeAsked else { return [] }
        self.members[index].supervision.asked(now: now)
        return [.refresh(backend: self.members[index].id)]
    }

    /// Decides, damps and publishes.
    mutating func settle(now: MonotonicTime) -> [Action] {
        self.shareFacts(now: now)
        guard var path = self.decision(now: now), self.mayPublish(now: now) else { return [] }
        // Neither counts when paths are compared.
        path.sequence = self.sequence + 1
        path.publishedAt = now
        let decided = Shared(consume path)
        self.decided = decided
        let (probes, portals) = (self.settings.probes, self.settings.portals)
        let isWhole = probes == .advisory && portals == .advisory
        let next = isWhole ? decided : Shared(decided.value.judged(by: probes, portals))
        let mayGoOut = self.damper.admits(
            next.value.status,
            published: self.published?.value.status,
            damping: self.settings.damping,
            now: now
        )
        guard mayGoOut else { return [] }
        if let published, published.value == next.value { return [] }
        self.sequence += 1
        self.published = next
        return [.publish(next)]
    }

    private func decision(now: MonotonicTime) -> NetworkPath? {
        let isTakeover = self.members.indices.contains {
            self.members[$0].record.hadVerdict && !self.snapshots[$0].report.hasVerdict
        }
        if isTakeover, let last = self.decided?.value {
            return Takeover(standings: self.standings, settings: self.settings, last: last, now: now).decide()
        }
        let strongest = self.members.indices.first {
            self.members[$0].record.hadVerdict && self.snapshots[$0].reportsPaths
        }
        // Without optional chaining, which copies the path each time.
        if let election = self.election(strongest: strongest),
            let path = election.path(self.snapshots)
        {
            return path
        }
        return self.decided?.value.held(by: self.snapshots)
    }

    // MARK: The first publication

    /// Whether there is a path; to ask the path itself would copy it.
    private var hasPublished: Bool { self.sequence > 0 }

    /// Whether a path may go out: the first one not before the most important backend has reported, failed or used its
    /// time, and not on a partial no while a stronger backend may still report.
    private func mayPublish(now: MonotonicTime) -> Bool {
        guard !self.hasPublished, self.startedAt != nil else { return true }
        return !self.isPrematureNo && self.firstPublicationDeadline.map { $0 <= now } ?? true
    }

    /// When the first path goes out though the most important backend has not reported; nil when there is no such path.
    private var firstPublicationDeadline: MonotonicTime? {
        guard !self.hasPublished, let startedAt else { return nil }
        let awaited = self.snapshots.lazy.map(\.report.health)
            .first { (health: BackendHealth) in health == .starting || health == .healthy }
        guard awaited == .starting, !self.isPrematureNo, self.firstElection != nil
        else { return nil }
        return startedAt + Self.firstPublicationLimit
    }

    private var firstElection: Election? { self.election(strongest: nil) }

    private func election(strongest: Int?) -> Election? {
        Election(
            self.snapshots,
            policy: self.settings.merge,
            probes: self.settings.probes,
            strongest: strongest
        )
    }

    private var isPrematureNo: Bool {
        guard let winner = self.firstElection?.winner else { return false }
        return self.snapshots[winner].verdict?.isPartialNo == true
            && self.snapshots[..<winner].contains { $0.report.health == .starting }
    }
}

extension Evidence {
    private var silentGateways: [Gateway] { self.gateways.filter { $0.answers == false } }

    /// Whether all other backends should read again: the network is another one, or the machine was suspended.
    ///
    /// What a probe found out says nothing about what others saw, and several probes must not keep one another busy.
    fileprivate func concernsOthers(after former: Evidence?) -> Bool {
        self.suspensions > former?.suspensions ?? 0
            || self.interfaces != former?.interfaces
            || self.referenceRoutes != former?.referenceRoutes ?? []
            || self.silentGateways != former?.silentGateways ?? []
            || self.dnsServers != former?.dnsServers
    }
}

extension MonotonicTime? {
    /// Replaces the value by an earlier one.
    fileprivate mutating func lower(to other: MonotonicTime?) {
        guard let other else { return }
        self = self.map { min($0, other) } ?? other
    }
}
