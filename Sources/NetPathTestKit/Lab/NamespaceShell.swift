// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathSystem
import Synchronization

/// A long-lived shell in fresh user, network and mount namespaces.
///
/// Commands are written to its standard input, so a command costs no process but its own, and the namespaces live
/// exactly as long as the shell. The shell must be a child: a threaded process such as a test runner cannot enter a
/// new user namespace itself.
final class NamespaceShell: Sendable {
    private struct State {
        var commandCount = 0
        var isEnded = false
    }

    private let process: Process
    private let input: FileDescriptor
    /// Its standard output and its standard error.
    private let outputs: [FileDescriptor]
    private let state = Mutex(State())

    /// The shell's process identifier.
    var processIdentifier: Int32 { process.processIdentifier }

    /// Starts the shell with the arguments of `unshare` that make its namespaces.
    init(unshareArguments: [String]) throws {
        // No pipe, because only a socket can be written to without the risk of SIGPIPE.
        guard let (input, theirs) = FileDescriptor.socketPair() else { throw LabSystem.failure("socketpair") }
        defer { withExtendedLifetime(theirs) {} }
        let pipes = [Pipe(), Pipe()]
        self.input = input
        outputs = try pipes.map(LabSystem.readingEnd(of:))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Programs of the administrator (ip, sysctl) are not on everybody's path.
        process.arguments =
            ["sh", "-c", #"PATH="$PATH:/usr/sbin:/sbin"; export PATH; exec unshare "$@" sh"#, "sh"] + unshareArguments
        process.standardInput = FileHandle(fileDescriptor: theirs.number, closeOnDealloc: false)
        process.standardOutput = pipes[0]
        process.standardError = pipes[1]
        self.process = process
        try process.run()
    }

    deinit { end() }

    /// Runs a command and returns its standard output.
    func run(_ command: String, timeout: Duration) throws -> String {
        try state.withLock { state in
            guard !state.isEnded else { throw LabError.namespaceEnded(command: command, standardError: "") }
            state.commandCount += 1
            let marker = "--end-of-lab-command-\(state.commandCount)--"
            // `command` keeps the shell alive after a syntax error in what is evaluated.
            let script = """
                command eval \(shellQuoted(command)) </dev/null
                printf '\\n%s %d\\n' \(marker) $?
                printf '\\n%s\\n' \(marker) >&2

                """
            do {
                try LabSystem.send(script, to: input)
                return try readResult(of: command, marker: marker, timeout: timeout)
            } catch let error as LabError {
                if case .commandFailed = error { throw error }
                state.isEnded = true
                endProcesses()
                if case .systemCallFailed = error {
                    throw LabError.namespaceEnded(command: command, standardError: "")
                }
                throw error
            }
        }
    }

    /// Ends the shell and every process that was started in it.
    func end() {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            endProcesses()
        }
    }

    private func endProcesses() {
        // Closing its input is enough for an idle shell; a wedged command needs the signal. The group is the shell's
        // own (Foundation starts every process in a new one), but to be wrong about that would kill the test runner.
        shutdown(input.number, Int32(SHUT_RDWR))
        let target = getpgid(processIdentifier) == processIdentifier ? -processIdentifier : processIdentifier
        if process.isRunning { kill(target, SIGKILL) }
    }

    private func readResult(of command: String, marker: String, timeout: Duration) throws -> String {
        var collected: [[UInt8]] = [[], []]
        let endings = ["\n\(marker) ", "\n\(marker)"].map { Array($0.utf8) }
        var tails: [String?] = [nil, nil]
        let deadline = ContinuousClock.now + timeout

        while tails.contains(nil) {
            // A negative descriptor is not looked at: after its end marker only a background program can write there.
            let awaited = zip(outputs, tails).map { $1 == nil ? $0.number : -1 }
            let readable = FileDescriptor.poll(readable: awaited, timeout: deadline - .now)
            for index in outputs.indices where readable[index] {
                guard let bytes = ChildProcess.read(outputs[index], limit: 65_536) else {
                    let detail = text(of: collected[1]) + remainingErrors()
                    throw LabError.namespaceEnded(command: command, standardError: trimmed(detail))
                }
                collected[index] += bytes
                tails[index] = removeEnding(endings[index], from: &collected[index])
            }
            if ContinuousClock.now >= deadline && tails.contains(nil) {
                throw LabError.commandTimedOut(
                    command: command,
                    after: timeout,
                    standardError: trimmed(text(of: collected[1]))
                )
            }
        }
        let status = tails[0].flatMap { Int32($0) } ?? -1
        guard status == 0 else {
            throw LabError.commandFailed(
                command: command,
                status: status,
                standardError: trimmed(text(of: collected[1]))
            )
        }
        return text(of: collected[0])
    }

    /// Reads what the shell still said before it ended: the reason, when `unshare` was refused.
    private func remainingErrors() -> String {
        var bytes: [UInt8] = []
        while FileDescriptor.poll(readable: [outputs[1].number], timeout: .milliseconds(200))[0],
            let more = ChildProcess.read(outputs[1])
        {
            bytes += more
        }
        return text(of: bytes)
    }

    /// Cuts the end marker off, if it has arrived, and returns what followed it on its line.
    private func removeEnding(_ ending: [UInt8], from bytes: inout [UInt8]) -> String? {
        guard bytes.last == UInt8(ascii: "\n") else { return nil }
        // Only the tail can hold the marker: without this bound a long output would be searched once per read.
        let tail = bytes.suffix(ending.count + 8)
        guard let start = tail.indices.last(where: { tail[$0...].starts(with: ending) }) else { return nil }
        let rest = text(of: Array(tail[(start + ending.count)...].dropLast()))
        bytes.removeSubrange(start...)
        return rest
    }

    private func text(of bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}

/// Quotes a text as one word of the shell's language.
package func shellQuoted(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
}
