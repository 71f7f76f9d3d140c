// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
public import NetPathHTTP
import NetPathPluginKit

/// Asks for addresses over HTTP whose answers are known, and so tells the internet from a captive portal.
///
/// All checks of a round begin together. A round runs at the start, whenever another backend saw a change, and every
/// ``Options/interval``; sooner while the internet cannot be reached, and later while nothing comes back at all. What
/// was found out last counts meanwhile. It says nothing of paths: whether a portal means that a path is
/// `requiresConnection` is up to the configuration (`PortalInfluence`).
public struct HTTPProbeMonitor: PathMonitor {
    /// What can be set.
    public struct Options: Hashable, Sendable {
        /// What is asked for; without any check nothing is sent, and nothing known.
        public var checks: [HTTPCheck]
        /// The address where the network tells of its portal (RFC 8908); nil for none.
        public var portalAPI: String?
        /// The time between rounds while the internet can be reached; ±10 % by chance.
        public var interval: Duration = .seconds(300)
        /// The interval on a metered or constrained path (`MonitorContext.isMetered(through:)`); nil for ten times
        /// ``interval``.
        public var meteredInterval: Duration?
        /// The longest time between rounds while nothing comes back.
        public var backoff: Duration = .seconds(360)
        /// How long a check may take.
        public var timeout: Duration = .seconds(10)
        /// How many rounds may begin in any 60 s.
        public var maxRoundsPerMinute = 12
        /// The interface that requests leave through, whatever the routes say; nil to follow the system's routes.
        public var interface: String?

        /// Creates options that are the default ones but for the checks.
        public init(checks: [HTTPCheck] = []) {
            self.checks = checks
        }
    }

    private let options: Options
    private let transport: any HTTPTransport

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - options: What it asks for.
    ///   - transport: What sends the requests, such as `CurlTransport`; it must not follow redirects.
    public init(_ options: Options, transport: any HTTPTransport) {
        self.options = options
        self.transport = transport
    }

    /// No client waits longer for the first report; coordinators give every backend 2 s.
    private static let firstReportLimit: Duration = .milliseconds(1_500)
    /// How long a connection may take while nothing comes back, and so how often Linux sends a SYN: three times.
    ///
    /// A server that answers the SYN and is slow to agree on TLS has broken the silence; it has all its time in the next
    /// round.
    private static let silentLimit: Duration = .seconds(3)
    /// A round that is disturbed by a change may go on for so long.
    private static let disturbedLimit: Duration = .milliseconds(250)
    /// So many rounds in a row are given up; a network that never comes to rest has to be told of too.
    private static let disturbedRounds = 3

    /// It sends requests.
    public var reachesOut: Bool { true }

    /// Probes until cancelled.
    ///
    /// - Parameter context: What the coordinator offers for the duration of the call.
    public func run(_ context: MonitorContext) async {
        let session = HTTPProbeSession(context)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in context.refreshRequests {
                    self.transport.pathChanged()
                    session.refreshed()
                }
            }
            group.addTask {
                let limit = context.clock.now() + Self.firstReportLimit
                do { try await context.clock.sleep(until: limit) } catch { return }
                session.speakFirst()
            }
            await self.probe(session, context)
            group.cancelAll()
        }
    }

    private func probe(_ session: HTTPProbeSession, _ context: MonitorContext) async {
        var schedule = HTTPProbeSchedule(self.options, now: context.clock.now())
        var disturbed = 0
        while !Task.isCancelled {
            let next = schedule.next(now: context.clock.now())
            if next > context.clock.now() {
                await session.changes.wait(until: next, context.clock)
                if !session.changes.take().isEmpty { schedule.changed(now: context.clock.now()) }
                continue
            }
            _ = session.changes.take()
            schedule.began(now: context.clock.now())
            let mayBeDisturbed = disturbed < Self.disturbedRounds
            let isSilent = schedule.isSilent
            let round =
                mayBeDisturbed
                ? await self.round(session, context, isSilent: isSilent)
                : await self.answers(context, isSilent: isSilent)
            if Task.isCancelled { return }
            let now = context.clock.now()
            guard let round else {
                schedule.changed(now: now)
                disturbed += 1
                continue
            }
            disturbed = 0
            schedule.ended(
                round.result,
                wasSent: round.wasSent,
                isSilent: round.isSilent,
                isMetered: context.isMetered(through: self.options.interface),
                jitter: .random(in: 0..<1),
                now: now
            )
            session.report(round, at: now)
            if context.asksOnce { return }
        }
    }

    /// Makes a round; nil when the network changed under it, or the task was cancelled.
    private func round(
        _ session: HTTPProbeSession,
        _ context: MonitorContext,
        isSilent: Bool
    ) async -> HTTPProbeRound? {
        let beganAt = context.clock.now()
        return await withTaskGroup(of: HTTPProbeRound?.self) { group in
            group.addTask { await self.answers(context, isSilent: isSilent) }
            group.addTask {
                await session.changes.wait(until: beganAt + .seconds(86_400), context.clock)
                // What began a moment ago has met the new network.
                try? await context.clock.sleep(until: beganAt + Self.disturbedLimit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func answers(_ context: MonitorContext, isSilent: Bool) async -> HTTPProbeRound? {
        await withTaskGroup(of: (Int?, HTTPAnswer).self) { group in
            for (position, check) in self.options.checks.enumerated() {
                group.addTask { (position, await self.ask(check.url, accept: nil, context, isSilent: isSilent)) }
            }
            if let api = self.options.portalAPI {
                group.addTask {
                    (nil, await self.ask(api, accept: "application/captive+json", context, isSilent: isSilent))
                }
            }
            var round = HTTPProbeRound(self.options)
            for await (position, answer) in group {
                if let position {
                    round.received(answer, to: position)
                } else {
                    round.received(portalReport: answer)
                }
            }
            return Task.isCancelled ? nil : round
        }
    }

    private func ask(
        _ url: String,
        accept: String?,
        _ context: MonitorContext,
        isSilent: Bool
    ) async -> HTTPAnswer {
        var request = TransportRequest(url: url)
        request.headers["Cache-Control"] = "no-cache"
        request.headers["Accept"] = accept
        request.headers["Connection"] = "close"
        request.interface = self.options.interface
        let limit = self.options.timeout
        request.timeouts.connect = isSilent ? min(limit, Self.silentLimit) : limit
        request.timeouts.total = self.options.timeout
        request.responseLimit = 65_536
        let beganAt = context.clock.now()
        let result: Result<TransportResponse, TransportError>
        do throws(TransportError) {
            result = .success(try await self.transport.send(request))
        } catch {
            result = .failure(error)
        }
        return HTTPAnswer(result: result, roundTrip: context.clock.now() - beganAt, time: SystemClock.timeOfDay())
    }
}
