// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathExplanation
import NetPathRecording
import NetPathSystem
import Reachability
import Synchronization

/// `netpath wait`.
struct WaitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until there is a path, or until other conditions are met.",
        discussion: """
            Ends as soon as the path is satisfied, or the conditions that are named instead are met; at once when that is \
            so already. Waits for as long as it takes: for drivers, modems, radio switches and interfaces that do not \
            exist yet. Wakes up only when something changes. On a terminal the last line says what is missing.

            Every condition is about the path that 'status' shows. Several have to be met at the same time; the \
            interfaces and types that are named then have to carry each --family. Probes and plugins are left out as \
            they are by 'status', unless --internet needs them: where 'netpath run' runs with the same configuration, \
            its path is waited for.

            The exit status is 0 when the conditions are met, 3 when --timeout came first, 1 when --fail-fast gave up, 78 \
            when the configuration can never meet a condition. A signal ends it as it ends other programs (130 for \
            SIGINT, 143 for SIGTERM in a shell). On SIGHUP the configuration is read again, unless the terminal is gone.
            """
    )

    @Option(
        help: ArgumentHelp("The path is satisfied, unsatisfied, or requiresConnection.", valueName: "status"),
        completion: .list(PathStatus.allCases.map(\.rawValue)),
        transform: { try Self.choice($0, among: PathStatus.allCases) }
    )
    var status: [PathStatus] = []

    @Option(
        help: ArgumentHelp("There is a path for this family: ipv4 or ipv6.", valueName: "family"),
        completion: .list(AddressFamily.allCases.map(\.rawValue)),
        transform: { try Self.choice($0, among: AddressFamily.allCases) }
    )
    var family: [AddressFamily] = []

    @Option(
        help: ArgumentHelp(
            "An interface of this name carries the path, or could; a pattern such as 'wlan*'.",
            valueName: "name"
        ),
        transform: Self.pattern
    )
    var interface: [GlobPattern] = []

    @Option(
        help: ArgumentHelp(
            "An interface of this type carries the path, or could: wifi, cellular, wired or other.",
            valueName: "type"
        ),
        completion: .list(Self.types.map(\.rawValue)),
        transform: { try Self.choice($0, among: Self.types) }
    )
    var type: [InterfaceType] = []

    @Flag(help: "There is a path, and a name server that packets would be sent to.")
    var dns = false

    @Flag(help: "There is a path, and a probe of the configuration was answered.")
    var internet = false

    @Option(
        help: ArgumentHelp(
            "Packets to this host would be sent; with a port, a TCP connection is accepted (it is tried repeatedly).",
            valueName: "host[:port]"
        ),
        transform: HostTarget.init(typed:)
    )
    var host: [HostTarget] = []

    @Flag(exclusivity: .exclusive)
    var combination = WaitConditions.Combination.all

    @Flag(help: "Wait until the conditions do not hold together.")
    var not = false

    @Option(help: ArgumentHelp("Wait until that has held for this long without a break.", valueName: "duration"))
    var stable = TimeLimit(duration: .zero)

    @Option(help: ArgumentHelp("Give up after this long; 0 checks once.", valueName: "duration"))
    var timeout: TimeLimit?

    @Flag(help: "Give up when no interface that exists now can come up.")
    var failFast = false

    @Flag(name: .shortAndLong, help: "Print nothing; the exit status is the answer.")
    var quiet = false

    @Flag(help: "Ask the running service instead of the backends, and wait for one that does not run yet.")
    var service = false

    @OptionGroup
    var probe: ProbeOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func validate() throws {
        if self.combination == .all, !self.not, Set(self.status).count > 1 {
            throw ValidationError("a path has one status at a time: add --any")
        }
        if self.service, !self.host.isEmpty || self.failFast || self.probe.probe {
            throw ValidationError("--service reports the path alone: leave out --host, --fail-fast and --probe")
        }
    }

    /// The types that carry paths.
    private static var types: [InterfaceType] { InterfaceType.allCases.filter { $0 != .loopback } }

    private static func choice<Choice: RawRepresentable<String>>(_ text: String, among all: [Choice]) throws -> Choice {
        if let choice = all.first(where: { $0.rawValue == text }) { return choice }
        let names = all.map(\.rawValue)
        let suggestion = nearestMatch(to: text, among: names).map { " (did you mean '\($0)'?)" } ?? ""
        throw ValidationError("'\(text.safe)' is not valid; use one of \(names.joined(separator: ", "))\(suggestion)")
    }

    private static func pattern(_ text: String) throws -> GlobPattern {
        guard let pattern = GlobPattern(text) else {
            throw ValidationError("'\(text.safe)' is not a pattern of names: it is empty, or a '[' lacks its ']'")
        }
        return pattern
    }

    private var conditions: WaitConditions {
        // Of several conditions those about interfaces are about what they carry.
        let families = self.combination == .all ? Set(self.family) : []
        var list = self.status.map(WaitCondition.status) + self.family.map(WaitCondition.family)
        list += self.interface.map { .interface($0, families) } + self.type.map { .type($0, families) }
        list += (self.dns ? [.dns] : []) + (self.internet ? [.internet] : []) + self.host.map(WaitCondition.host)
        return WaitConditions(
            list: list.isEmpty ? [.status(.satisfied)] : list,
            combination: self.combination,
            isNegated: self.not
        )
    }

    private var terms: WaitMachine.Terms {
        WaitMachine.Terms(
            conditions: self.conditions,
            stable: self.stable.duration,
            timeout: self.timeout?.duration,
            failsFast: self.failFast
        )
    }

    /// Waits for what the service says of its path; reads no configuration, and starts nothing.
    private func waitForService() throws -> ToolStatus {
        let context = ToolContext.current
        let loop = try EventLoop()
        loop.wakeUp.stopOnSignals()
        let line = self.quiet ? nil : ProgressLine(environment: context.environment)
        let session = WaitSession(self.terms, policy: EvaluationPolicy(), loop: loop, isShown: line != nil)
        let places = ServiceFolders.places(of: context.environment)
        session.take { $0.silence = "no service answers at \(places.map(\.socket).joined(separator: ", "))" }
        let isNoted = Atomic(self.quiet)
        let isFollowing = ServiceFollower.start(places) { document in
            guard let answer = ServiceFollower.ask(.snapshot, of: places),
                let snapshot = try? CodedLine.value(ServiceSnapshot.self, from: answer).status
            else {
                // Of a service that has ended; one that answers no more questions may still say more.
                let isStale = (try? JSONReader.read(document[...]))?["stale"] == .bool(true)
                if isStale { session.take { $0.path?.isStale = true } }
                return
            }
            if !isNoted.exchange(true, ordering: .relaxed) {
                line?.clear()
                context.noteNamespace(of: snapshot.via.first)
            }
            session.take { ($0.path, $0.silence) = (snapshot.path, "no backend of the service has a verdict yet") }
        }
        guard isFollowing else { throw SystemError.last("cannot start a thread") }
        let outcome = session.run(showing: line) { _ in }
        line?.clear()
        if let outcome { return try self.report(outcome, of: session.machine) }
        LoopWakeUp.endBySignal()
        return .failure
    }

    func execute() throws -> ToolStatus {
        if self.service { return try self.waitForService() }
        let adapt: @Sendable (LoadedConfiguration) -> LoadedConfiguration = {
            [asksAll = self.probe.probe, needsInternet = self.internet] in
            asksAll ? $0 : needsInternet ? $0.answeringWhole : $0.answering
        }
        let configuration = try self.options.runnableConfiguration(adapt)
        try self.check(configuration)
        let terms = self.terms
        let context = ToolContext.current
        let loop = try EventLoop()
        let line = self.quiet ? nil : ProgressLine(environment: context.environment)
        let session = WaitSession(terms, policy: configuration.evaluation, loop: loop, isShown: line != nil)
        session.take { $0.leftOut = configuration.leftOut }
        let service = AnsweringService.find(configuration)?.service
        // Most waits are over before they begin, and one look costs less than to listen.
        if self.host.isEmpty, terms.stable == .zero, !configuration.reachesOut {
            let log = context.log(from: .error)
            let outcome = session.ask(
                configuration.makeCoordinator(clock: loop, executor: loop, log: log.write),
                service
            )
            if let outcome { return try self.report(outcome, of: session.machine) }
        }
        if let service { session.follow(service) }
        if let outcome = session.machine.outcome { return try self.report(outcome, of: session.machine) }
        return try self.wait(session, configuration, adapt: adapt, on: loop, line: line)
    }

    private func wait(
        _ session: WaitSession,
        _ configuration: LoadedConfiguration,
        adapt: @escaping @Sendable (LoadedConfiguration) -> LoadedConfiguration,
        on loop: EventLoop,
        line: ProgressLine?
    ) throws -> ToolStatus {
        let context = ToolContext.current
        loop.wakeUp.stopAndReloadOnSignals()
        let log = MessageLog(from: configuration.logLevel) { [isQuiet = self.quiet] level, text in
            if isQuiet { return }
            line?.clear()
            context.note("\(context.name): \(level.rawValue): \(text.safe)")
        }
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        session.follow(coordinator)
        let follower = ConfigurationFollower(
            configuration,
            self.options,
            coordinator,
            loop: loop,
            watchesFile: false,
            log: log,
            adapt: adapt
        )
        // Watched only where they matter: closing the watches delays the end of the process.
        let watchesFiles = self.dns || self.options.json || self.host.contains(where: \.isName)
        coordinator.start(watchingFiles: watchesFiles)
        defer { coordinator.stop() }
        let hosts = try WaitedHosts(self.host, on: coordinator, loop: loop, for: session)
        defer { hosts.end() }
        let outcome = try session.run(showing: line) { reasons in
            guard reasons.contains(.reload) else { return }
            follower.handle(reasons)
            let configuration = follower.configuration
            session.take { view in
                view.policy = configuration.evaluation
                view.leftOut = configuration.leftOut
            }
            try self.check(follower.configuration)
        }
        line?.clear()
        if let outcome { return try self.report(outcome, of: session.machine) }
        LoopWakeUp.endBySignal()
        // Nothing else asks for the end.
        return .failure
    }

    /// Makes sure that every condition can be met at all.
    ///
    /// - Throws: ``ToolFailure``.
    private func check(_ configuration: LoadedConfiguration) throws(ToolFailure) {
        guard self.internet, !configuration.speaksOfInternet else { return }
        throw ToolFailure(
            .badConfiguration,
            """
            --internet can never be met: no backend of the configuration (\(configuration.origin.safe)) asks the \
            internet, or states whether it can be reached. Add one of type tcpProbe, httpProbe or exec to 'backends', \
            such as {type: tcpProbe, targets: ["example.net:443"]}; 'netpath config default' explains them.
            """
        )
    }

    private func report(_ outcome: WaitMachine.Outcome, of machine: WaitMachine) throws -> ToolStatus {
        let status = ToolStatus(outcome)
        if self.quiet { return status }
        let now = ClockReading.now()
        var report = WaitReport(
            terms: machine.terms,
            outcome: outcome,
            view: machine.view,
            waited: now.monotonic - machine.startedAt,
            takenAt: now,
            via: self.options.json ? Provenance.via : []
        )
        if case .hopeless = outcome {
            report.remedies = machine.view.remedies(for: machine.terms.conditions, at: now.monotonic)
        }
        if self.options.json {
            try ToolContext.current.write(report.document.line + "\n")
        } else if outcome == .met {
            try ToolContext.current.write(report.line)
        }
        if outcome != .met { ToolContext.current.say(report.message) }
        return status
    }
}

extension LoadedConfiguration {
    /// Whether any backend that runs sends packets or starts programs.
    fileprivate var reachesOut: Bool { self.backends.contains { $0.mode != .off && $0.monitor.reachesOut } }
}

extension WaitView {
    /// What would help, by the evidence of the first backend that sees interfaces.
    fileprivate func remedies(for conditions: WaitConditions, at now: MonotonicTime) -> [String] {
        // What helps the others does not help an interface that is not there.
        let seen = self.interfaces(at: now) ?? []
        let concernsAny = { (condition: WaitCondition) in seen.contains { condition.concerns($0.name, $0.type) } }
        guard seen.isEmpty || conditions.list.allSatisfy(concernsAny) else { return [] }
        return self.witness?.explanation(self.policy, now: now)?.remedies ?? []
    }
}
