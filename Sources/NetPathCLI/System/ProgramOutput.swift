// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// What a program of the system wrote.
struct ProgramOutput {
    /// Its standard output.
    var bytes: [UInt8] = []
    /// What went wrong, for people; nil when nothing did.
    var failure: String?

    /// Programs are not looked for where the environment says.
    private static let variables = ["LC_ALL": "C", "PATH": "/usr/sbin:/sbin:/usr/bin:/bin"]
    /// The most that is read.
    private static let limit = 8 << 20
    private static let patience: Duration = .seconds(5)

    init(bytes: [UInt8] = [], failure: String? = nil) {
        self.bytes = bytes
        self.failure = failure
    }

    /// Runs a program to its end, five seconds at most; nil when it is not installed.
    init?(_ name: String, _ arguments: [String]) {
        guard let plan = try? LaunchPlan(typed: [name] + arguments, environment: Self.variables) else { return nil }
        do throws(LaunchError) {
            self.read(try ChildProcess(plan), name)
        } catch {
            self.failure = error.description
        }
    }

    private mutating func read(_ process: ChildProcess, _ name: String) {
        process.closeInput()
        let deadline = MonotonicTime.now() + Self.patience
        var complaints: [UInt8] = []
        var ending: ProcessEnding?
        while ending == nil || process.output != nil || process.errors != nil {
            let rest = deadline - .now()
            guard rest > .zero, self.bytes.count + complaints.count < Self.limit else {
                process.end(request: nil, patience: .zero)
                self.failure = "\(name) did not end in time, or said too much"
                return
            }
            let end = ending == nil ? process.endDescriptor : -1
            let ready = FileDescriptor.poll(
                readable: [process.output?.number ?? -1, process.errors?.number ?? -1, end],
                // Where the kernel cannot tell of the end.
                timeout: end < 0 ? min(rest, .milliseconds(50)) : rest
            )
            if ready[0], !Self.take(process.output, &self.bytes) { process.closeOutput() }
            if ready[1], !Self.take(process.errors, &complaints) { process.closeErrors() }
            ending = process.ending
        }
        guard ending != .exited(0) else { return }
        let text = String(decoding: (complaints + self.bytes).prefix(500), as: UTF8.self)
        self = ProgramOutput(failure: "\(name) failed: \(text)")
    }

    /// Adds what there is to read; false at the end.
    private static func take(_ descriptor: FileDescriptor?, _ bytes: inout [UInt8]) -> Bool {
        guard let part = ChildProcess.read(descriptor, limit: 1 << 16) else { return false }
        bytes += part
        return true
    }
}
