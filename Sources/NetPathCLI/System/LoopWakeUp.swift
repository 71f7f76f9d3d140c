// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import Synchronization

/// Wakes the thread of an event loop, and tells it what for; also out of signal handlers.
package struct LoopWakeUp: Sendable {
    /// What the sleeper is woken for.
    package struct Reasons: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// There is something to write.
        package static let output = Reasons(rawValue: 1)
        /// The program shall end.
        package static let stop = Reasons(rawValue: 2)
        /// A task can go on.
        static let work = Reasons(rawValue: 4)
        /// The terminal has another size.
        static let resize = Reasons(rawValue: 8)
        /// The user wants the terminal back for a while (Ctrl-Z).
        static let suspend = Reasons(rawValue: 16)
        /// The process was continued, or the user wants the terminal drawn anew.
        static let resume = Reasons(rawValue: 32)
        /// The configuration shall be read again (SIGHUP).
        static let reload = Reasons(rawValue: 64)
        /// Something on the way to the configuration file changed.
        static let file = Reasons(rawValue: 128)
    }

    /// What the signal handler writes to; -1 without a reader.
    private static let signalDescriptor = Atomic<Int32>(-1)

    /// Keeps that descriptor open: a handler can use it at any time.
    private static let signalled = Mutex<WakeUp?>(nil)

    /// The last signal that asked for the end; 0 while none has.
    private static let lastStop = Atomic<Int32>(0)

    private let wakeUp: WakeUp

    /// The end that becomes readable.
    var rawValue: Int32 { self.wakeUp.fileDescriptor }

    /// Opens the pipe.
    ///
    /// - Throws: `SystemError` when the process may open no more files.
    init() throws(SystemError) {
        self.wakeUp = try WakeUp()
    }

    /// Wakes the sleeper; callable from any thread.
    package func wake(_ reasons: Reasons) { WakeUp.wake(self.wakeUp.inputDescriptor, reasons.rawValue) }

    /// Takes the reasons since the last call; empty when there are none.
    func take() -> Reasons { self.wakeUp.take().reduce(into: []) { $0.formUnion(Reasons(rawValue: $1)) } }

    /// Turns SIGINT and SIGTERM into a wake-up with the reason `stop`.
    ///
    /// A signalfd would need the signals blocked in every thread, also in those that a plugin starts. A handler works
    /// on whichever thread it runs.
    package func stopOnSignals() {
        let earlier = Self.signalled.withLock { exchange(&$0, with: self.wakeUp) }
        Self.signalDescriptor.store(self.wakeUp.inputDescriptor, ordering: .sequentiallyConsistent)
        // Not closed before no handler can write to it.
        withExtendedLifetime(earlier) {}
        Self.handle([SIGINT, SIGTERM])
    }

    /// The same, and turns SIGHUP into a wake-up: with the reason `stop` when it tells that the terminal is gone, else
    /// with `reload`.
    ///
    /// Where the signal is ignored, as nohup(1) has it, it stays so.
    func stopAndReloadOnSignals() {
        self.stopOnSignals()
        let hasTerminal = Self.hasTerminal
        Self.hadTerminal.store(hasTerminal, ordering: .sequentiallyConsistent)
        var current = sigaction()
        guard unsafe sigaction(SIGHUP, nil, &current) == 0 else { return }
        let isIgnored = unsafe unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
        if !isIgnored { Self.handle([SIGHUP]) }
    }

    /// Ends the process by the signal that asked for it, so that its parent sees which one; returns when none did.
    package static func endBySignal() {
        let number = self.lastStop.load(ordering: .sequentiallyConsistent)
        guard number != 0 else { return }
        _ = signal(number, SIG_DFL)
        raise(number)
    }

    /// Turns what happens to the terminal into wake-ups: a new size, suspension, continuation.
    ///
    /// After ``stopOnSignals()``.
    func followTerminal() {
        Self.handle([SIGWINCH, SIGTSTP, SIGCONT])
    }

    /// Whether there was a controlling terminal when ``stopAndReloadOnSignals()`` was called.
    private static let hadTerminal = Atomic(false)

    /// Whether the process has a controlling terminal; a hang-up takes it away from the whole session.
    private static var hasTerminal: Bool {
        let descriptor = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Only what a signal handler may call (signal-safety(7)).
    fileprivate static var isTerminalGone: Bool {
        Self.hadTerminal.load(ordering: .sequentiallyConsistent) && !Self.hasTerminal
    }

    private static func handle(_ numbers: [Int32]) {
        for number in numbers {
            _ = signal(number) { number in
                // The interrupted code must not see the errno of this write (signal-safety(7)).
                let saved = errno
                let reasons = LoopWakeUp.Reasons.of(number)
                if reasons == .stop { LoopWakeUp.lastStop.store(number, ordering: .sequentiallyConsistent) }
                WakeUp.wake(LoopWakeUp.signalDescriptor.load(ordering: .sequentiallyConsistent), reasons.rawValue)
                errno = saved
            }
        }
    }
}

extension LoopWakeUp.Reasons {
    /// What a signal asks for.
    fileprivate static func of(_ signal: Int32) -> LoopWakeUp.Reasons {
        switch signal {
        case SIGWINCH: .resize
        case SIGTSTP: .suspend
        case SIGCONT: .resume
        case SIGHUP: LoopWakeUp.isTerminalGone ? .stop : .reload
        default: .stop
        }
    }
}
