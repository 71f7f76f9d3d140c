// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import Synchronization

/// A program that runs inside a network namespace and writes one JSON object per line, such as `netpath watch --json`.
///
/// Its output is collected continuously. It ends with this object, or with its namespace.
public final class MonitorProcess: Sendable {
    /// The signals that tests send.
    public enum Signal: Int32, Sendable {
        /// SIGHUP.
        case hangUp = 1
        /// SIGINT, as from Control-C.
        case interrupt = 2
        /// SIGKILL.
        case kill = 9
        /// SIGUSR1.
        case user1 = 10
        /// SIGTERM.
        case terminate = 15
        /// SIGCONT.
        case resume = 18
        /// SIGSTOP: the program stands still, and events pile up in its sockets.
        case suspend = 19
    }

    /// The namespace the program runs in.
    public let namespace: NetworkNamespace

    /// The program's process identifier.
    public let processIdentifier: Int32

    let program: String
    private let output = ProgramOutput()
    private let exitStatus = Mutex<Int32?>(nil)

    /// Starts the program as a child of the namespace's shell.
    fileprivate init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        in namespace: NetworkNamespace
    ) throws {
        self.namespace = namespace
        self.program = URL(fileURLWithPath: program).lastPathComponent
        let paths = [namespace.uniquePath("output"), namespace.uniquePath("errors")]
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        let descriptors = try paths.map(LabSystem.makePipe(at:))
        // The shell lets background programs ignore SIGINT and SIGQUIT, and what is ignored stays so over exec.
        let words =
            ["env", "--default-signal"] + environment.map { "\($0)=\($1)" }.sorted() + [program] + arguments
        let command = words.map(shellQuoted).joined(separator: " ")
        // The shell itself opens the pipes: a background program would do it later, when their names are gone.
        let answer = try namespace.run(
            """
            exec 8>\(shellQuoted(paths[0])) 9>\(shellQuoted(paths[1]))
            \(command) >&8 2>&9 8>&- 9>&- & echo $!
            exec 8>&- 9>&-
            """
        )
        guard let identifier = Int32(answer.filter(\.isNumber)) else {
            throw LabError.invalidRequest("the shell did not name the process of '\(command)' but said '\(answer)'")
        }
        processIdentifier = identifier
        output.start(output: descriptors[0], errors: descriptors[1])
    }

    deinit {
        if isRunning { kill(processIdentifier, SIGKILL) }
    }

    /// What the program has written to its standard error so far.
    public var standardError: String { output.standardError }

    /// Whether the program is running.
    public var isRunning: Bool { state.map { $0 != "Z" } ?? false }

    /// Lets the program's output pipe fill up while true, as a reader does that is too slow.
    package var isReadingSuspended: Bool {
        get { output.isSuspended }
        set { output.isSuspended = newValue }
    }

    /// Returns the next line that satisfies a condition and drops those before it.
    ///
    /// - Parameters:
    ///   - timeout: The time to wait for it.
    ///   - condition: The condition; without one the next line is returned.
    /// - Returns: The line.
    /// - Throws: ``LabError`` when the program ends, is too slow or writes something that is not JSON.
    @discardableResult
    public func next(
        timeout: Duration = .seconds(40),
        where condition: (JSONLine) throws -> Bool = { _ in true }
    ) throws -> JSONLine {
        let deadline = ContinuousClock.now + timeout
        while true {
            let line = try decode(takeLine(until: deadline, timeout, awaited: "the awaited line"))
            if try condition(line) { return line }
        }
    }

    /// Returns the next line as text.
    ///
    /// - Parameter timeout: The time to wait for it.
    /// - Returns: The line without its end.
    /// - Throws: ``LabError`` when the program ends or is too slow.
    @discardableResult
    public func nextText(timeout: Duration = .seconds(40)) throws -> String {
        try takeLine(until: .now + timeout, timeout, awaited: "another line").text
    }

    /// Returns the lines up to the first one that shows the mark.
    package func lines(until mark: EventMark, timeout: Duration = .seconds(40)) throws -> MarkedLines {
        let deadline = ContinuousClock.now + timeout
        var before: [JSONLine] = []
        while true {
            let line = try decode(takeLine(until: deadline, timeout, awaited: "the mark \(mark.address)"))
            if line.shows(mark) { return MarkedLines(before: before, settled: line) }
            before.append(line)
        }
    }

    /// Returns what the program wrote because of some changes: everything until a mark that is set after them.
    @discardableResult
    package func lines(
        markedOn interface: LabInterface,
        timeout: Duration = .seconds(40),
        causedBy changes: () throws -> Void = {}
    ) throws -> MarkedLines {
        try changes()
        return try lines(until: namespace.mark(on: interface), timeout: timeout)
    }

    /// Returns the lines that have arrived and not been taken yet, without waiting.
    ///
    /// - Returns: The lines.
    /// - Throws: ``LabError/malformedLine(program:line:reason:)`` when one is not JSON.
    @discardableResult
    public func drain() throws -> [JSONLine] {
        var lines: [JSONLine] = []
        while let line = output.nextLine(until: .now) { lines.append(try decode(line)) }
        return lines
    }

    /// Sends the program a signal, if it is still running.
    ///
    /// After ``Signal/suspend`` all of its threads stand still when this returns.
    ///
    /// - Parameter signal: The signal.
    public func sendSignal(_ signal: Signal) {
        guard isRunning else { return }
        send(signal, to: processIdentifier)
    }

    /// Sends a signal to the program and to all that it has started, parents first: one that stands still starts nothing.
    package func sendSignalToAll(_ signal: Signal) {
        guard isRunning else { return }
        sendToAll(signal, from: processIdentifier)
    }

    private func sendToAll(_ signal: Signal, from process: Int32) {
        send(signal, to: process)
        for child in ProgramHoldings.children(of: process) { sendToAll(signal, from: child) }
    }

    private func send(_ signal: Signal, to process: Int32) {
        kill(process, signal.rawValue)
        guard signal == .suspend else { return }
        // One thread takes the signal and stops the others, which go on until then: on a busy machine long enough to
        // see what happens next.
        let deadline = ContinuousClock.now + .seconds(10)
        while !isSuspended(process), ContinuousClock.now < deadline { usleep(200) }
    }

    /// Ends the program and waits for it.
    ///
    /// - Parameters:
    ///   - signal: The signal that asks it to end.
    ///   - timeout: The time after which it is killed.
    /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
    /// - Throws: ``LabError/programDidNotEnd(program:after:standardError:)`` when it had to be killed.
    @discardableResult
    public func stop(signal: Signal = .terminate, timeout: Duration = .seconds(60)) throws -> Int32 {
        sendSignal(signal)
        return try waitForEnd(timeout: timeout)
    }

    /// Waits until the program has ended by itself.
    ///
    /// - Parameter timeout: The time after which it is killed.
    /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
    /// - Throws: ``LabError/programDidNotEnd(program:after:standardError:)`` when it had to be killed.
    @discardableResult
    public func waitForEnd(timeout: Duration = .seconds(60)) throws -> Int32 {
        try exitStatus.withLock { exitStatus in
            if let exitStatus { return exitStatus }
            let deadline = ContinuousClock.now + timeout
            while isRunning {
                if ContinuousClock.now >= deadline {
                    kill(processIdentifier, SIGKILL)
                    throw LabError.programDidNotEnd(program: program, after: timeout, standardError: standardError)
                }
                // Its last output usually announces the end; a program can also outlive its output.
                output.waitForChange(atMost: .milliseconds(5))
            }
            // Its last words may still be on the way; a child of its own could hold the pipes open for ever.
            let outputDeadline = ContinuousClock.now + .seconds(10)
            while !output.hasEnded && !output.isSuspended && ContinuousClock.now < outputDeadline {
                output.waitForChange(atMost: .milliseconds(5))
            }
            let answer = try namespace.run("wait \(processIdentifier); echo $?")
            let status = Int32(answer.filter(\.isNumber)) ?? -1
            exitStatus = status
            return status
        }
    }

    /// Whether all threads of a process stand still, or it has ended.
    private func isSuspended(_ process: Int32) -> Bool {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.allSatisfy { thread in
            guard let state = Self.state(in: "\(folder)/\(thread)")?.letter else { return true }
            return "TtZX".contains(state)
        }
    }

    /// The one-letter state of the process, nil when it is not the shell's child (any more).
    private var state: Substring? {
        let state = Self.state(in: "/proc/\(processIdentifier)")
        // The identifier could belong to another program by now.
        return state?.parent == namespace.processIdentifier ? state?.letter : nil
    }

    /// The one-letter state of the process or thread that a folder of `/proc` describes, and its parent.
    private static func state(in folder: String) -> (letter: Substring, parent: Int32?)? {
        guard let text = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].dropFirst(2).split(separator: " ")
        return fields.count > 1 ? (fields[0], Int32(fields[1])) : nil
    }

    private func takeLine(
        until deadline: ContinuousClock.Instant,
        _ timeout: Duration,
        awaited: String
    ) throws -> ProgramOutput.Line {
        if let line = output.nextLine(until: deadline) { return line }
        if output.hasEnded {
            throw LabError.programEnded(
                program: program,
                awaited: awaited,
                lastLine: output.lastLine,
                standardError: standardError
            )
        }
        throw LabError.lineTimedOut(
            program: program,
            awaited: awaited,
            after: timeout,
            lastLine: output.lastLine,
            standardError: standardError
        )
    }

    private func decode(_ line: ProgramOutput.Line) throws -> JSONLine {
        do {
            let value = try JSONValue(json: line.text)
            return JSONLine(text: line.text, value: value, receivedAt: line.receivedAt)
        } catch {
            throw LabError.malformedLine(program: program, line: line.text, reason: "\(error)")
        }
    }
}

extension NetworkNamespace {
    /// Starts a program inside.
    ///
    /// - Parameters:
    ///   - program: Its path, or its name if it is on the path.
    ///   - arguments: Its arguments.
    ///   - environment: Variables in addition to the test's own.
    /// - Returns: The running program.
    /// - Throws: ``LabError`` when it cannot be started; a program that does not exist is reported by its first
    ///   awaited line.
    public func start(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws -> MonitorProcess {
        try MonitorProcess(program, arguments, environment: environment, in: self)
    }
}
