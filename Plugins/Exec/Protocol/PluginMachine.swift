// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The protocol of external plugins without input and output: bytes in, what to do out.
///
/// Every input takes the time and returns what to do, in order. Whatever a plugin writes, the machine keeps one line, one
/// report and a few counters of it.
struct PluginMachine: Sendable {
    /// What the performer has to do.
    enum Action: Hashable, Sendable {
        /// Report what the plugin says, which others said before it.
        case report(Evidence, via: [String])
        /// Hand on the plugin's numbers.
        case metrics([BackendMetric])
        /// Say that the plugin has nothing to go by.
        case unavailable(String)
        /// Say that the plugin cannot be asked to look again.
        case takesNoRefreshRequests
        /// Tell the operator.
        case log(LogLevel, String)
        /// Write a request to the plugin.
        case send(PluginRequest)
        /// End the plugin, which broke the protocol.
        case fail(String)
        /// Show a line to an observer, with what was made of it.
        case show(PluginLine)
    }

    /// What the first line made of the stream.
    private enum Mode: Sendable {
        case awaitingHello(since: MonotonicTime)
        /// A plugin that knows the protocol.
        case active(PluginHello)
        /// The output of another netpath, which is asked nothing.
        case passive
        case failed
    }

    private let options: ExecMonitor.Options
    /// Whether an observer wants to see every line.
    private let isObserved: Bool
    private let decoder: PluginDecoder
    private var mode: Mode
    private var lines = LineBuffer(limit: Self.lineLimit)
    private(set) var lineNumber = 0
    private var allowance = FlowAllowance(lines: 200, bytes: 1 << 20)
    private var isFlooding = false
    private var logAllowance = FlowAllowance(lines: 20, bytes: 16_384)
    private var dropped = 0
    private var lastLine: MonotonicTime
    /// Whether its silence since the last line was forgiven once.
    private var isSpared = false
    /// The last report, which a heartbeat in answer to a refresh confirms.
    private var lastReport: Action?
    private var isAsked = false
    private var watched: Set<InternetAddress>?
    /// The interfaces that the last facts named and that do not exist.
    private(set) var missing: [String] = []
    /// Why the plugin is to be ended; nil while it is not.
    private(set) var failure: PluginEnd?
    /// How many messages, and how many reports, came to nothing since they were last taken.
    private(set) var unseen: (messages: Int, reports: Int) = (0, 0)

    /// Waking up this late means that the process did not run; a plugin that was stopped with it could not speak either.
    private static let oversleptAfter: Duration = .milliseconds(500)

    /// The most bytes of a line: a path of some thousand interfaces.
    static let lineLimit = 256 * 1024

    /// Starts with nothing said.
    ///
    /// - Parameters:
    ///   - options: What can be set.
    ///   - isObserved: Whether an observer wants to see every line.
    ///   - instance: What this machine is called among those that hear of one another.
    ///   - index: The kernel's index of an interface by its name.
    ///   - now: The present moment.
    init(
        _ options: ExecMonitor.Options,
        isObserved: Bool = false,
        instance: String,
        index: @escaping @Sendable (String) -> UInt32?,
        now: MonotonicTime
    ) {
        self.options = options
        self.isObserved = isObserved
        self.decoder = PluginDecoder(isRemote: options.scope == .remote, instance: instance, index: index)
        self.mode = .awaitingHello(since: now)
        self.lastLine = now
    }

    // MARK: Inputs

    /// Takes what the plugin wrote to its output.
    mutating func received(_ bytes: some Collection<UInt8>, now: MonotonicTime) -> [Action] {
        guard !self.hasFailed else { return [] }
        self.allowance.take(bytes: bytes.count, now: now)
        self.lines.append(bytes)
        var actions: [Action] = []
        var report: Action?
        while !self.hasFailed, let line = self.lines.next() {
            self.lineNumber += 1
            self.allowance.take(lines: 1, now: now)
            do throws(PluginFault) {
                let count = actions.count
                let said = try self.take(line, now: now, actions: &actions)
                if report != nil, said != nil { self.unseen.reports += 1 }
                report = said ?? report
                self.lastLine = now
                self.isSpared = false
                if self.isObserved {
                    actions.append(self.shown(line, self.reading(said, actions[count...])))
                }
            } catch {
                if self.isObserved { actions.append(self.shown(line, .fault(error.description))) }
                actions.append(self.fail("line \(self.lineNumber) of its output \(error.description)"))
            }
        }
        // Of several reports that came together the last one replaces the others.
        if let report, !self.hasFailed {
            self.lastReport = report
            self.isAsked = false
            actions.append(report)
        }
        if !self.hasFailed, !self.isFlooding, self.allowance.isUsedUp {
            self.isFlooding = true
            actions.append(
                .log(.warning, "writes more than 200 lines or 1 MiB a second, and is read no faster than that")
            )
        }
        return actions
    }

    /// Takes the end of the plugin's output.
    mutating func ended() -> [Action] {
        guard !self.hasFailed else { return [] }
        let isWhole = self.lines.rest.isEmpty
        let place = isWhole ? "" : " in the middle of a line"
        return [self.fail("closed its output\(place); keep it open, and exit to end", isWhole ? .closed : .breach)]
    }

    /// Takes a message to the operator: a line of the plugin's standard error, or of its own accord.
    mutating func log(_ text: String, level: LogLevel = .info, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        self.logAllowance.renew(now: now)
        guard !self.logAllowance.isUsedUp else {
            self.dropped += 1
            self.unseen.messages += 1
            return []
        }
        if self.dropped > 0 {
            actions.append(.log(.warning, "\(self.dropped) more messages were dropped"))
            self.dropped = 0
        }
        self.logAllowance.take(lines: 1, bytes: text.utf8.count, now: now)
        return actions + [.log(level, text.printable(limit: 500))]
    }

    /// Asks the plugin to look again; one that takes no requests is not asked.
    mutating func refresh() -> [Action] {
        guard self.hello?.answersRefresh == true else { return [] }
        self.isAsked = true
        return [.send(.refresh)]
    }

    /// Tells the plugin which hosts clients ask about.
    mutating func watch(_ addresses: Set<InternetAddress>) -> [Action] {
        self.watched = addresses
        guard self.hello?.watches == true else { return [] }
        return [.send(.watch(addresses.sorted()))]
    }

    /// Does what is due.
    mutating func wake(now: MonotonicTime) -> [Action] {
        self.allowance.renew(now: now)
        guard let deadline = self.silenceDeadline, deadline <= now else { return [] }
        // Once: a machine that is too busy to wake us in time must not keep a silent plugin for ever.
        if now - deadline >= Self.oversleptAfter, !self.isSpared {
            self.isSpared = true
            self.lastLine = now
            if case .awaitingHello = self.mode { self.mode = .awaitingHello(since: now) }
            return []
        }
        let fault: String
        if case .awaitingHello = self.mode {
            let limit = DurationText.format(self.options.helloDeadline)
            fault = "wrote no line within \(limit) of its start; write {\"netpath\":1} first"
        } else {
            let limit = DurationText.format(self.heartbeat ?? .zero)
            fault = "wrote no line for \(limit), its heartbeat; write {\"heartbeat\":true} in time"
        }
        return [self.fail("\(fault), and flush after each line", .silence)]
    }

    /// What came to nothing since the last call.
    mutating func takeUnseen() -> (messages: Int, reports: Int) {
        defer { self.unseen = (0, 0) }
        return self.unseen
    }

    // MARK: What there is to wait for

    /// Whether the performer may read on: what is not read makes a plugin that floods wait.
    var wantsOutput: Bool { !self.hasFailed && !self.allowance.isUsedUp }

    /// The earliest moment at which ``wake(now:)`` has something to do; nil when only the plugin can change anything.
    var nextDeadline: MonotonicTime? {
        [self.silenceDeadline, self.allowance.renewal].compactMap { $0 }.min()
    }

    /// Whether the plugin takes requests, and reads them.
    var takesRequests: Bool { self.hello.map { $0.answersRefresh || $0.watches } ?? false }

    private var hasFailed: Bool { if case .failed = self.mode { true } else { false } }

    /// What the plugin says of itself; nil before its first line, and for another netpath.
    var hello: PluginHello? { if case .active(let hello) = self.mode { hello } else { nil } }

    private var heartbeat: Duration? { self.options.heartbeat ?? self.hello?.heartbeat }

    private var silenceDeadline: MonotonicTime? {
        switch self.mode {
        case .awaitingHello(let since): since + self.options.helloDeadline
        case .active, .passive: self.heartbeat.map { self.lastLine + $0 }
        case .failed: nil
        }
    }

    // MARK: Lines

    private mutating func fail(_ reason: String, _ end: PluginEnd = .breach) -> Action {
        self.failure = end
        self.mode = .failed
        self.lines = LineBuffer(limit: 0)
        return .fail(reason)
    }

    /// Takes a line; returns what it says of the network.
    private mutating func take(
        _ line: LineBuffer.Line,
        now: MonotonicTime,
        actions: inout [Action]
    ) throws(PluginFault) -> Action? {
        guard case .whole(let bytes) = line
        else { throw PluginFault("is longer than \(Self.lineLimit / 1024) KiB; tell only what concerns the path") }
        let node: JSONNode
        do throws(JSONFault) {
            node = try JSONReader.read(bytes)
        } catch {
            let head = String(decoding: bytes.prefix(60), as: UTF8.self).printable(limit: 60)
            throw PluginFault(
                "\(error.description) at byte \(error.offset + 1): \(head); write one JSON object a line to standard "
                    + "output, and all else to standard error"
            )
        }
        guard case .object = node else { throw PluginFault("is \(node.kind), and has to be an object") }
        switch self.mode {
        case .awaitingHello:
            actions += try self.begin(node)
            if case .passive = self.mode { return try self.document(node, now: now) }
            return nil
        case .passive: return try self.document(node, now: now)
        case .active: return try self.message(node, now: now, actions: &actions)
        case .failed: return nil
        }
    }

    /// Takes the first line.
    private mutating func begin(_ node: JSONNode) throws(PluginFault) -> [Action] {
        guard node["netpath"] == nil else {
            let hello = try PluginHello(node)
            self.mode = .active(hello)
            var actions: [Action] = hello.answersRefresh ? [] : [.takesNoRefreshRequests]
            // What was wanted before anybody knew whether the plugin takes requests; it reports by itself first.
            if hello.watches, let watched { actions.append(.send(.watch(watched.sorted()))) }
            return actions
        }
        guard let schema = node["schema"] else {
            throw PluginFault(
                "has to be a hello such as {\"netpath\":1,\"name\":\"mine\"}, or the output of netpath watch --json"
            )
        }
        guard schema == .integer(1) else {
            throw PluginFault("is of a newer netpath, whose output this one does not know; update this one")
        }
        self.mode = .passive
        return [.takesNoRefreshRequests]
    }

    private func document(_ node: JSONNode, now: MonotonicTime) throws(PluginFault) -> Action? {
        guard node["schema"] == .integer(1) else { throw PluginFault("lacks \"schema\":1") }
        return try self.decoder.document(node, host: self.host, now: now)
    }

    /// Who says what a plugin of another machine says.
    private var host: String { self.options.host ?? self.hello?.name ?? "another machine" }

    /// Says which interfaces were left out, once for as long as they are the same: one that vanished a moment ago is no
    /// breach of the protocol.
    private mutating func note(missing: [String], now: MonotonicTime) -> [Action] {
        guard missing != self.missing else { return [] }
        self.missing = missing
        guard !missing.isEmpty else { return [] }
        let shown = missing.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        let names = shown + (missing.count > 8 ? ", and more" : "")
        return self.log("left out what it says of \(names): no interface of this machine", now: now)
    }

    private mutating func message(
        _ node: JSONNode,
        now: MonotonicTime,
        actions: inout [Action]
    ) throws(PluginFault) -> Action? {
        if node["netpath"] != nil { throw PluginFault("is a second hello; write it once, as the first line") }
        if let evidence = node["evidence"] {
            var missing: [String] = []
            let report = try self.decoder.evidence(evidence, host: self.host, now: now, missing: &missing)
            actions += self.note(missing: missing, now: now)
            return report
        }
        if let conclusion = node["conclusion"] {
            return try self.decoder.conclusion(conclusion, host: self.host, now: now)
        }
        if node["facts"] != nil { return try self.decoder.facts(node, now: now) }
        if let metrics = node["metrics"] {
            actions.append(.metrics(try BackendMetric.list(metrics)))
            return nil
        }
        if let sentence = node["unavailable"] {
            return .unavailable(try sentence.text("unavailable").printable(limit: 300))
        }
        if let message = node["log"] {
            let level = try node["level"]?.choice("level", among: LogLevel.self)
            actions += self.log(try message.text("log"), level: level ?? .info, now: now)
            return nil
        }
        // The answer of one that has looked and seen nothing new.
        if node["heartbeat"] == .bool(true) { return self.isAsked ? self.lastReport?.confirmed(at: now) : nil }
        throw PluginFault(
            "is no message; those are evidence, conclusion, facts, metrics, unavailable, heartbeat and log"
        )
    }
}

extension PluginMachine.Action {
    /// The same report, of a reading at another time.
    fileprivate func confirmed(at now: MonotonicTime) -> Self {
        guard case .report(var evidence, let via) = self else { return self }
        evidence.observedAt = now
        return .report(evidence, via: via)
    }
}
