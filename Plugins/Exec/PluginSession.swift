// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
package import NetPathSystem

/// What an observer of a plugin is told, on the thread of its session.
package enum PluginEvent: Hashable, Sendable {
    /// It wrote a line.
    case line(PluginLine)
    /// It was ended, as nothing was wanted of it any more; its ending is nil where the kernel does not tell. Whether it
    /// left a process behind in a group of its own.
    case ended(TerminationMethod, ProcessEnding?, hasLeftGroup: Bool)
}

/// One run of a plugin, confined to its thread: performs what the machine says, and tells it what the plugin does.
///
/// The thread sleeps until the plugin writes or ends, a request comes, or a deadline of the plugin's passes.
final class PluginSession {
    private let monitor: ExecMonitor
    private let mailbox: Mailbox<MonitorRequests>
    private let context: MonitorContext
    private let process: ChildProcess
    private var machine: PluginMachine
    private var errorLines = LineBuffer(limit: 4096)
    private var errorAllowance = FlowAllowance(lines: .max, bytes: 65_536)
    private var lastErrorLine: String?
    private var outgoing: [UInt8] = []
    private var hasAnswered = false
    /// Why the plugin ended, as far as that is clear before the error is.
    private var end: PluginEnd?
    /// Since when an answer to a refresh is due; nil when none is.
    private var askedAt: MonotonicTime?

    /// More requests than a plugin that reads them ever leaves unread.
    private static let outgoingLimit = 128 * 1024

    private var title: String { self.monitor.options.title }

    /// Starts the plugin.
    ///
    /// - Throws: ``LaunchError`` when it cannot be started.
    init(
        _ monitor: ExecMonitor,
        _ mailbox: Mailbox<MonitorRequests>,
        _ context: MonitorContext
    ) throws(LaunchError) {
        ChildProcess.blockBrokenPipes()
        self.monitor = monitor
        self.mailbox = mailbox
        self.context = context
        do throws(LaunchError) {
            self.process = try ChildProcess(monitor.options.launchPlan())
        } catch {
            monitor.counters.count(.start)
            context.reportMetrics(monitor.counters.metrics)
            throw error
        }
        self.machine = PluginMachine(
            monitor.options,
            isObserved: monitor.observe != nil,
            instance: Provenance.instance,
            index: AddressZone.index(ofInterface:),
            now: context.clock.now()
        )
        let hello = PluginRequest.hello(
            instance: Provenance.instance,
            referenceDestinations: monitor.options.referenceDestinations,
            once: context.asksOnce
        )
        self.outgoing = hello.line
    }

    deinit {
        Provenance.note([], heardBy: self)
    }

    // MARK: The loop

    /// Relays until the mailbox says stop.
    ///
    /// - Throws: ``LaunchError`` when the plugin ended or broke the protocol; it does not run any more then.
    func run() throws(LaunchError) {
        do throws(LaunchError) {
            try self.relay()
        } catch {
            self.process.end(request: nil, patience: .zero)
            self.end(of: self.end ?? .closed)
            throw error
        }
        // It is given up for a refresh that it leaves unanswered, or is not needed any more.
        let isOverdue = self.askedAt.map { self.context.clock.now() - $0 >= .seconds(1) } ?? false
        self.end(of: isOverdue ? .silence : nil)
        // Who asked once waits for the end.
        let request = self.machine.takesRequests ? PluginRequest.shutdown.line : nil
        let method = self.process.end(
            request: request,
            patience: self.context.asksOnce ? .zero : self.monitor.patience
        )
        self.monitor.observe?(.ended(method, self.process.ending, hasLeftGroup: self.process.hasLeftGroup))
    }

    /// Takes back the plugin's numbers, and counts why it ended.
    private func end(of end: PluginEnd?) {
        self.noteUnseen()
        self.monitor.counters.take([])
        if let end { self.monitor.counters.count(end) }
        self.context.reportMetrics(self.monitor.counters.metrics)
    }

    private func noteUnseen() {
        let (messages, reports) = self.machine.takeUnseen()
        guard messages > 0 || reports > 0 else { return }
        if messages > 0 { self.monitor.counters.count(.message, messages) }
        if reports > 0 { self.monitor.counters.count(.report, reports) }
        self.context.reportMetrics(self.monitor.counters.metrics)
    }

    private func relay() throws(LaunchError) {
        while true {
            let now = self.context.clock.now()
            self.errorAllowance.renew(now: now)
            try self.perform(self.machine.wake(now: now))
            try self.send()
            self.noteUnseen()
            let deadline = [self.machine.nextDeadline, self.errorAllowance.renewal].compactMap { $0 }.min()
            let ready = FileDescriptor.poll(
                readable: [
                    self.machine.wantsOutput ? self.process.output?.number ?? -1 : -1,
                    self.errorAllowance.isUsedUp ? -1 : self.process.errors?.number ?? -1,
                    self.process.endDescriptor,
                    self.mailbox.fileDescriptor,
                ],
                writable: [self.outgoing.isEmpty ? -1 : self.process.input?.number ?? -1],
                timeout: deadline.map { max(.zero, $0 - now) }
            )
            if ready[1] { try self.readErrors() }
            if ready[0] { try self.readOutput() }
            if self.hasAnswered, self.context.asksOnce { return }
            if ready[2] { try self.takeEnd() }
            if ready[3] {
                let requests = self.mailbox.take()
                if requests.isStopped { return }
                if let watched = requests.watched { try self.perform(self.machine.watch(watched)) }
                if requests.wantsRefresh { try self.perform(self.machine.refresh()) }
            }
        }
    }

    private func readOutput() throws(LaunchError) {
        guard let bytes = ChildProcess.read(self.process.output) else {
            self.process.closeOutput()
            // Its end, if it has ended, says more.
            _ = FileDescriptor.poll(readable: [self.process.endDescriptor], timeout: self.monitor.patience)
            try self.takeEnd()
            return try self.perform(self.machine.ended())
        }
        try self.perform(self.machine.received(bytes, now: self.context.clock.now()))
    }

    /// Reads what a plugin that has ended wrote before.
    private func takeEnd() throws(LaunchError) {
        guard let ending = self.process.ending else { return }
        // What was written before, of which there can be no more than a pipe holds.
        for _ in 0..<16 {
            guard let bytes = ChildProcess.read(self.process.output), !bytes.isEmpty else { break }
            try self.perform(self.machine.received(bytes, now: self.context.clock.now()))
        }
        if self.hasAnswered, self.context.asksOnce { return }
        try self.readErrors()
        if case .signaled = ending { self.end = .signal } else { self.end = .exit }
        let advice =
            ending == .exited(0)
            ? "; run until shutdown is read, or the input ends"
            : self.lastErrorLine == nil ? "; have it write why to standard error" : ""
        throw LaunchError("'\(self.title)' \(ending)\(self.errorSuffix)\(advice)")
    }

    /// The last line of its standard error, which tends to be why it ended.
    private var errorSuffix: String { self.lastErrorLine.map { "; it wrote: \($0)" } ?? "" }

    // MARK: Standard error

    private func readErrors() throws(LaunchError) {
        guard let bytes = ChildProcess.read(self.process.errors) else { return self.process.closeErrors() }
        let now = self.context.clock.now()
        self.errorAllowance.take(bytes: bytes.count, now: now)
        self.errorLines.append(bytes)
        while let line = self.errorLines.next() {
            let text = String(decoding: line.bytes.prefix(500), as: UTF8.self)
            guard !text.isEmpty else { continue }
            // What its supervisor says is not why it ended.
            if !text.hasPrefix("netpath: what it left behind") { self.lastErrorLine = text.printable(limit: 200) }
            try self.perform(self.machine.log(text, now: now))
        }
    }

    // MARK: Standard input

    private func send() throws(LaunchError) {
        guard !self.outgoing.isEmpty else { return }
        guard let count = self.process.write(self.outgoing.prefix(65_536)) else {
            self.outgoing = []
            // A plugin that takes no requests may close its input.
            if self.machine.takesRequests {
                throw LaunchError(
                    "'\(self.title)' closed its input, and its hello names requests; read them all"
                )
            }
            return
        }
        self.outgoing.removeFirst(count)
    }

    // MARK: Performing

    private func perform(_ actions: [PluginMachine.Action]) throws(LaunchError) {
        for action in actions {
            switch action {
            case .report(let evidence, let via):
                if self.monitor.options.scope == .remote { Provenance.note(via, heardBy: self) }
                self.hasAnswered = true
                self.askedAt = nil
                self.context.report(evidence)
            case .unavailable(let sentence):
                Provenance.note([], heardBy: self)
                self.hasAnswered = true
                self.askedAt = nil
                self.context.reportUnavailable(sentence)
            case .metrics(let metrics):
                self.monitor.counters.take(metrics)
                self.context.reportMetrics(self.monitor.counters.metrics)
            case .log(let level, let message): self.context.log(level, message)
            case .takesNoRefreshRequests: self.context.takesNoRefreshRequests()
            case .send(let request):
                guard self.outgoing.count < Self.outgoingLimit else {
                    throw LaunchError(
                        "'\(self.title)' takes requests and does not read them; read input while waiting"
                    )
                }
                if request == .refresh { self.askedAt = self.askedAt ?? self.context.clock.now() }
                self.outgoing += request.line
                try self.send()
            case .show(let line): self.monitor.observe?(.line(line))
            case .fail(let reason):
                self.end = self.machine.failure
                throw LaunchError("'\(self.title)': \(reason)\(self.errorSuffix)")
            }
        }
    }
}
