// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// One run of the monitor, confined to its thread: performs what the schedule says, and tells it what came of it.
///
/// Between rounds the thread sleeps until the next one is due; sockets exist only while their attempt is under way, and
/// all of them are closed with the session.
final class ProbeSession {
    private let monitor: TCPProbeMonitor
    private let context: MonitorContext
    private let mailbox: Mailbox<MonitorRequests>

    private var schedule: ProbeSchedule
    private var sockets: [Int: ProbeSocket] = [:]
    private var timeAsleep = SystemClock.timeAsleep()

    /// Makes sure that the options can be honoured.
    ///
    /// - Throws: ``SystemError`` when the system refuses sockets or what the options want of them.
    init(
        _ monitor: TCPProbeMonitor,
        _ mailbox: Mailbox<MonitorRequests>,
        _ context: MonitorContext
    ) throws(SystemError) {
        self.monitor = monitor
        self.context = context
        self.mailbox = mailbox
        self.schedule = ProbeSchedule(monitor.options, ledger: monitor.ledger, now: context.clock.now())
        do {
            _ = try ProbeSocket(.ipv4, monitor.options)
        } catch {
            // An interface may come later.
            if error.isShortage { throw error }
        }
    }

    // MARK: The loop

    /// Probes until the mailbox says stop.
    ///
    /// - Throws: ``SystemError`` when the system grants no more sockets, which says nothing about the network.
    func run() throws(SystemError) {
        try self.perform(self.schedule.proceed(now: self.context.clock.now()))
        while true {
            let attempts = self.sockets.map { (id: $0.key, socket: $0.value) }
            let now = self.context.clock.now()
            let ready = FileDescriptor.poll(
                readable: [self.mailbox.fileDescriptor],
                writable: attempts.map(\.socket.fileDescriptor),
                timeout: max(.zero, self.schedule.nextDeadline(now: now) - now)
            )
            self.schedule.isMetered = self.context.isMetered(through: self.monitor.options.interface)
            // First of all, so that the round trip is that of the network.
            for (attempt, isReady) in zip(attempts, ready.dropFirst()) where isReady {
                try self.ended(attempt.id, attempt.socket.pendingError)
            }
            // Of a resumption others may tell too, and one round is enough.
            var isChanged = self.hasSlept()
            if ready[0] {
                let requests = self.mailbox.take()
                if requests.isStopped { return }
                for (name, lookup) in requests.lookups.sorted(by: { $0.key < $1.key }) {
                    if case .failed(let reason) = lookup {
                        self.context.log(.info, "cannot resolve \(name): \(reason)")
                    }
                    try self.perform(self.schedule.resolved(name, lookup, now: self.context.clock.now()))
                }
                if requests.wantsRefresh { isChanged = true }
            }
            if isChanged { try self.perform(self.schedule.refresh(now: self.context.clock.now())) }
            try self.perform(self.schedule.proceed(now: self.context.clock.now()))
        }
    }

    /// Whether the machine was suspended since the last look.
    ///
    /// Backends that are told of the resumption pass it on; a probe that runs alone finds out when it is due next.
    private func hasSlept() -> Bool {
        let asleep = SystemClock.timeAsleep()
        defer { self.timeAsleep = asleep }
        return asleep - self.timeAsleep > .milliseconds(500)
    }

    // MARK: Performing

    private func perform(_ actions: [ProbeSchedule.Action]) throws(SystemError) {
        for action in actions {
            switch action {
            case .round(.resolve(let name)):
                // Weak, because the resolver may outlive the run by minutes.
                self.monitor.names.find(name) { [weak mailbox = self.mailbox] lookup in
                    mailbox?.post { $0.lookups[name] = lookup }
                }
            case .round(.connect(let attempt, let endpoint)): try self.connect(attempt, endpoint)
            case .round(.close(let attempt)): self.sockets[attempt] = nil
            case .report(let round, let time): self.report(round, at: time)
            }
        }
    }

    private func connect(_ attempt: Int, _ endpoint: ProbeEndpoint) throws(SystemError) {
        let socket: ProbeSocket
        do {
            socket = try ProbeSocket(endpoint.address.family, self.monitor.options)
        } catch {
            if error.isShortage { throw error }
            return try self.ended(attempt, error.errno)
        }
        if let error = socket.connect(to: endpoint) { return try self.ended(attempt, error) }
        self.sockets[attempt] = socket
    }

    private func ended(_ attempt: Int, _ error: Int32) throws(SystemError) {
        let now = self.context.clock.now()
        self.sockets[attempt] = nil
        try self.perform(
            self.schedule.ended(attempt: attempt, ProbeOutcome.Result(connectError: error), now: now)
        )
    }

    private func report(_ round: ProbeRound, at time: MonotonicTime) {
        var evidence = Evidence(at: time)
        evidence.probes = round
        self.context.report(evidence)
    }
}
