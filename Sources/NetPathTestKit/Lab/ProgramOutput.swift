// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import NetPathSystem
import Synchronization

/// Collects what a program writes, on a thread of its own.
///
/// The program never waits for the test to read, unless reading was suspended on purpose.
final class ProgramOutput: Sendable {
    /// A line and when it arrived.
    struct Line {
        var text: String
        var receivedAt: ContinuousClock.Instant
    }

    private struct State {
        var lines: ArraySlice<Line> = []
        var buffer = LineBuffer(limit: .max)
        var errors: [UInt8] = []
        var lastLine: String?
        var hasEnded = false
        var isSuspended = false
    }

    private let state = Mutex(State())
    private let changed = DispatchSemaphore(value: 0)

    /// Whether the program has closed both of its outputs.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// What the program has written to its standard error so far.
    var standardError: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }

    /// The last line taken out, for error messages.
    var lastLine: String? { state.withLock(\.lastLine) }

    /// Lets the program's pipe fill up, or reads on.
    var isSuspended: Bool {
        get { state.withLock(\.isSuspended) }
        set { state.withLock { $0.isSuspended = newValue } }
    }

    /// Starts to read both descriptors, until both have ended.
    func start(output: FileDescriptor, errors: FileDescriptor) {
        let isRunning = BackgroundThread.start { [self] in
            var open = [output, errors]
            while !open.isEmpty {
                let suspended = isSuspended
                let awaited = suspended ? open.filter { $0 === errors } : open
                // While suspended the thread looks up now and then whether it shall read on.
                let timeout: Duration? = suspended ? .milliseconds(20) : nil
                let readable = FileDescriptor.poll(readable: awaited.map(\.number), timeout: timeout)
                for (descriptor, isReadable) in zip(awaited, readable) where isReadable {
                    guard descriptor === errors || !isSuspended else { continue }
                    if let bytes = ChildProcess.read(descriptor, limit: 65_536) {
                        append(bytes, isError: descriptor === errors)
                    } else {
                        open.removeAll { $0 === descriptor }
                    }
                }
            }
            state.withLock { $0.hasEnded = true }
            changed.signal()
        }
        precondition(isRunning, "the lab needs a thread for what a program writes")
    }

    /// Takes the next line out; nil when there is none until the deadline or the program has ended.
    func nextLine(until deadline: ContinuousClock.Instant) -> Line? {
        while true {
            let (line, hasEnded) = state.withLock { state in
                let line = state.lines.popFirst()
                state.lastLine = line?.text ?? state.lastLine
                return (line, state.hasEnded)
            }
            if let line { return line }
            let remaining = deadline - .now
            guard !hasEnded, remaining > .zero else { return nil }
            waitForChange(atMost: remaining)
        }
    }

    /// Waits until something was read, for a bounded time.
    func waitForChange(atMost duration: Duration) {
        _ = changed.wait(timeout: .now() + .nanoseconds(Int(clamping: Int64(duration / .nanoseconds(1)))))
    }

    private func append(_ bytes: [UInt8], isError: Bool) {
        let now = ContinuousClock.now
        state.withLock { state in
            guard !isError else {
                state.errors += bytes
                return
            }
            state.buffer.append(bytes)
            while let line = state.buffer.next() {
                state.lines.append(Line(text: String(decoding: line.bytes, as: UTF8.self), receivedAt: now))
            }
        }
        changed.signal()
    }
}
