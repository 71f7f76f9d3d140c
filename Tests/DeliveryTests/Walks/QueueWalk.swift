// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// A random life of a file, compared with a model.
///
/// Two processes with a queue on it are told what to do, killed and started again, and a server answers as it likes.
final class QueueWalk {
    private static let patience: TimeInterval = 20

    private let folder: TemporaryDirectory
    private let inbox = Inbox()
    private var random: SeededGenerator
    private var processes: [Int: WalkedProcess] = [:]
    private var lastProcess = 0
    private var model = QueueModel()
    private var ids: [UUID] = []
    private var isOnline = true
    private var lastCommand = 0
    /// The requests that are to be enqueued by commands that were not answered.
    private var enqueuing: [Int: UUID] = [:]
    private var trace: [String] = []

    private init(seed: UInt64) throws {
        self.folder = try TemporaryDirectory()
        self.random = SeededGenerator(seed: seed)
    }

    /// Walks a number of steps.
    ///
    /// - Returns: What differed from the model, with the steps that led to it.
    static func differences(seed: UInt64, steps: Int = 40) throws -> [String] {
        let walk = try QueueWalk(seed: seed)
        try walk.start()
        for _ in 0..<steps where walk.model.differences.isEmpty { try walk.step() }
        if walk.model.differences.isEmpty { try walk.end() }
        for process in walk.processes.values { process.kill() }
        return walk.model.differences.isEmpty ? [] : ["seed \(seed)"] + walk.model.differences + walk.trace
    }

    private func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.random) }

    // MARK: Steps

    private func step() throws {
        switch self.number(0..<20) {
        case 0..<8: try self.enqueue()
        case 8..<13: self.answer()
        case 13: try self.cancel()
        case 14: try self.tellAll("network \(self.number(0..<3) == 0 ? "off" : "on")")
        case 15: try self.ask(self.number(0..<3) == 0 ? "pause" : "resume")
        case 16: try self.reviveDead()
        case 17: try self.ask("retry")
        case 18: try self.replaceProcess()
        default: if self.processes.count < 2 { try self.start() } else { try self.replaceProcess() }
        }
        while let (process, line) = self.inbox.next(within: 0) { self.receive(line, of: process) }
    }

    private func start() throws {
        self.lastProcess += 1
        self.processes[self.lastProcess] = try WalkedProcess(
            self.lastProcess,
            file: self.folder["queue.sqlite"],
            isOnline: self.isOnline,
            inbox: self.inbox
        )
        self.trace.append("start \(self.lastProcess)")
        try self.wait("\(self.lastProcess) to open") { line in line["open"] != nil }
    }

    /// Ends a process in the middle of whatever it does, and starts another.
    private func replaceProcess() throws {
        guard let (number, process) = self.anyProcess() else { return }
        // What was asked for last may have been done or not.
        if self.number(0..<2) == 0 { self.askToEnqueue(of: process) }
        if self.number(0..<2) == 0 { usleep(UInt32(self.number(0..<3_000))) }
        self.trace.append("kill \(number)")
        process.kill()
        self.processes[number] = nil
        self.model.ended(process: number)
        if self.processes.isEmpty || self.number(0..<2) == 0 { try self.start() }
    }

    private func anyProcess() -> (Int, WalkedProcess)? {
        let number = self.processes.keys.sorted().randomElement(using: &self.random)
        return number.flatMap { number in self.processes[number].map { (number, $0) } }
    }

    private func enqueue() throws {
        guard let (_, process) = self.anyProcess() else { return }
        try self.waitForAnswer(to: self.askToEnqueue(of: process))
    }

    @discardableResult
    private func askToEnqueue(of process: WalkedProcess) -> Int {
        let lane = self.number(0..<2) == 0 ? "lane\(self.number(0..<3))" : nil
        let policy = ["hold", "skip", "dropLane"][self.number(0..<3)]
        let unique = lane == nil && self.number(0..<4) == 0 ? "unique" : nil
        let ifExists = ["keep", "replace"][self.number(0..<2)]
        let expiry = self.number(0..<8) == 0 ? "\(self.number(1..<100))" : "-"
        let id = UUID(bytes: self.random.next(), self.random.next())
        if unique != nil, ifExists == "replace" { self.model.mayReplaceUnique() }
        self.model.enqueued(
            QueueModel.Request(
                id: id,
                // A key that may be there once makes a lane, too, and one that never stands still.
                lane: lane ?? unique,
                policy: lane == nil ? "skip" : policy,
                isUnique: unique != nil,
                mayExpire: expiry != "-"
            )
        )
        self.ids.append(id)
        let options = "\(policy) \(self.number(0..<3)) \(unique ?? "-") \(ifExists) \(expiry)"
        let command = self.tell(process, "enqueue \(id) \(lane ?? "-") \(options)")
        self.enqueuing[command] = id
        return command
    }

    private func cancel() throws {
        guard let id = self.ids.randomElement(using: &self.random) else { return }
        self.model.cancelling(id)
        // One that is being sent may arrive, and be sent once more where that has just failed.
        if try self.ask("cancel \(id)")?["wasSent"] == "false" { self.model.cancelled(id) }
    }

    private func reviveDead() throws {
        let ended = self.model.requests.values.filter { $0.end != nil }.map(\.id)
        guard let id = ended.sorted(by: { $0.uuidString < $1.uuidString }).randomElement(using: &self.random) else {
            return
        }
        if try self.ask("requeue \(id)") != nil { self.model.revived(id) }
    }

    private func tellAll(_ line: String) throws {
        self.isOnline = line.hasSuffix("on")
        for process in self.processes.values { try self.waitForAnswer(to: self.tell(process, line)) }
    }

    /// Asks any process for something; returns its answer, nil when it was refused.
    @discardableResult
    private func ask(_ line: String) throws -> WalkedLine? {
        guard let (_, process) = self.anyProcess() else { return nil }
        return try self.waitForAnswer(to: self.tell(process, line))
    }

    @discardableResult
    private func tell(_ process: WalkedProcess, _ line: String) -> Int {
        self.lastCommand += 1
        if line != "state" { self.trace.append("\(process.number) <- \(self.lastCommand) \(line)") }
        process.tell("\(self.lastCommand) \(line)")
        return self.lastCommand
    }

    /// The server answers a request that is on its way.
    private func answer() {
        guard let flight = self.model.flights.randomElement(using: &self.random) else { return }
        self.answer(flight, ["200", "200", "200", "200", "503", "lost", "unsent", "400", "401"][self.number(0..<9)])
    }

    private func answer(_ flight: QueueModel.Flight, _ word: String) {
        guard let process = self.processes[flight.process] else { return }
        self.model.answered(flight, status: Int(word))
        self.tell(process, "answer \(flight.number) \(word)")
    }

    // MARK: What the processes say

    private func receive(_ line: WalkedLine?, of process: Int) {
        guard let line else { return self.trace.append("\(process) ended") }
        if line["waiting"] == nil { self.trace.append("\(process) -> \(line.text)") }
        if let number = line["sent"]?.string, let id = line.id("name") {
            let flight = QueueModel.Flight(process: process, number: number, id: id)
            self.model.sent(flight, key: line["key"]?.string ?? "", isAlive: self.processes[process] != nil)
        } else if let number = line["ended"]?.string {
            self.model.ended(number, process: process)
        } else if let id = line.id("recorded") {
            self.model.recorded(id)
        } else if let kept = line.id("kept"), let id = self.enqueuing[line.command] {
            self.model.acknowledged(id, as: kept)
        }
    }

    private func wait(_ what: String, until isOver: (WalkedLine) -> Bool) throws {
        while let (process, line) = self.inbox.next(within: Self.patience) {
            self.receive(line, of: process)
            if let line, isOver(line) { return }
        }
        self.model.differ("nothing was heard for \(Self.patience) s, waiting for \(what)")
        throw LabError.invalidRequest((self.model.differences + self.trace).joined(separator: "\n"))
    }

    @discardableResult
    private func waitForAnswer(to command: Int) throws -> WalkedLine? {
        var answer: WalkedLine?
        try self.wait("the answer to \(command)") { line in
            if line.command == command { answer = line }
            return answer != nil
        }
        return answer.flatMap { $0["error"] == nil ? $0 : nil }
    }

    // MARK: The end

    /// Lets everything that can go go, and compares what is left.
    private func end() throws {
        if self.processes.isEmpty { try self.start() }
        try self.tellAll("network on")
        try self.ask("resume")
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while Date() < deadline, self.model.differences.isEmpty {
            for flight in self.model.flights { self.answer(flight, "200") }
            guard let (_, process) = self.anyProcess() else { return }
            guard let state = try self.waitForAnswer(to: self.tell(process, "state")) else { continue }
            let held = state.ids("held")
            if state.ids("waiting").isEmpty, self.model.flights.isEmpty {
                return self.model.compare(dead: state.ids("dead"), held: held)
            }
            // What stands behind one that is held waits for somebody.
            if self.isBlocked(state.ids("waiting"), by: held), self.model.flights.isEmpty {
                for id in held {
                    self.model.cancelling(id)
                    if try self.ask("cancel \(id)") != nil { self.model.cancelled(id) }
                }
            }
            while let (process, line) = self.inbox.next(within: 0.002) { self.receive(line, of: process) }
        }
        if self.model.differences.isEmpty { self.model.differ("not everything was sent within \(Self.patience) s") }
    }

    private func isBlocked(_ waiting: Set<UUID>, by held: Set<UUID>) -> Bool {
        let lanes = Set(held.compactMap { self.model.requests[$0]?.lane })
        return waiting.contains { self.model.requests[$0]?.lane.map(lanes.contains) ?? false }
    }
}

extension WalkedLine {
    /// The number of the command that it answers.
    fileprivate var command: Int { self["to"]?.string.flatMap { Int($0) } ?? 0 }

    fileprivate func id(_ name: String) -> UUID? { self[name]?.string.flatMap { UUID(uuidString: $0) } }
}

extension WalkedLine {
    fileprivate func ids(_ name: String) -> Set<UUID> {
        Set((self[name]?.string ?? "").split(separator: " ").compactMap { UUID(uuidString: String($0)) })
    }
}

extension UUID {
    fileprivate init(bytes high: UInt64, _ low: UInt64) {
        let text = String(high, radix: 16).leftPadded + String(low, radix: 16).leftPadded
        func part(_ range: Range<Int>) -> Substring { text.dropFirst(range.lowerBound).prefix(range.count) }
        let name = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { part($0) }.joined(separator: "-")
        self = UUID(uuidString: name) ?? UUID()
    }
}

extension String {
    fileprivate var leftPadded: String { String(repeating: "0", count: 16 - self.count) + self }
}
