// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import Synchronization

/// The terminal while a view takes all of it: alternate screen, no cursor, keys neither echoed nor kept for a line.
///
/// However the process ends, short of SIGKILL, the terminal is as before: after ``leave()``, at `exit`, and when the
/// process crashes, which is why what is needed for that lies where a signal handler can get at it.
struct TerminalScreen: Sendable {
    /// What a frame begins with when it is the first one on the screen; lines that are too long are not wrapped.
    static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    /// Undoes ``entering``, and the colour of a frame that was not finished.
    private static let leaving: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// How long a terminal that takes nothing may hold up the end, in milliseconds.
    private static let patience: Int32 = 500

    /// The terminal that has to be restored; -1 when there is none.
    private static let entered = Atomic<Int32>(-1)
    /// How the terminal was set before; nil when it was not possible to know.
    private static let settings = Mutex<termios?>(nil)

    private let descriptor: Int32
    /// Whether keys come from this terminal, and not from a file or a pipe.
    let readsKeys: Bool

    /// Looks at a terminal; nil when another process group has it, so that the shell is in use there.
    init?(_ descriptor: WatchDescriptor) {
        guard Self.isForeground(descriptor.rawValue) else { return nil }
        self.descriptor = descriptor.rawValue
        self.readsKeys = isatty(STDIN_FILENO) == 1
    }

    // MARK: Coming and going

    /// Makes the screen ours, or ours again; the next frame has to begin with ``entering``.
    ///
    /// In the background the kernel stops the process here (SIGTTOU) until it is in the foreground, as it does with
    /// every program that takes the whole screen: a shell does not tell a running job that it came to the foreground.
    func enter() {
        var current = termios()
        if unsafe tcgetattr(self.descriptor, &current) == 0 {
            // After a SIGSTOP nothing was restored, and the settings found now are the shell's.
            let isEntered = Self.entered.load(ordering: .sequentiallyConsistent) >= 0
            if !isEntered { Self.settings.withLock { $0 = current } }
            current.c_lflag &= ~tcflag_t(ECHO | ICANON)
            unsafe tcsetattr(self.descriptor, TCSANOW, &current)
        }
        Self.entered.store(self.descriptor, ordering: .sequentiallyConsistent)
    }

    /// Gives the screen back as it was.
    func leave() {
        Self.restore()
    }

    /// Stops the process as Ctrl-Z does, with the screen given back, until it is continued.
    func stopProcess(wakeUp: LoopWakeUp) {
        self.leave()
        _ = signal(SIGTSTP, SIG_DFL)
        // Delivered before it returns, because it is sent to this thread.
        raise(SIGTSTP)
        wakeUp.followTerminal()
    }

    /// Makes sure that an unplanned end of the process restores the terminal too.
    static func restoreAtEveryEnd() {
        atexit { TerminalScreen.restore() }
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT] {
            _ = signal(number) { number in
                TerminalScreen.restore()
                _ = signal(number, SIG_DFL)
                // Blocked until the handler returns, and then it ends the process as if there had been no handler.
                raise(number)
            }
        }
    }

    /// Only what a signal handler may call (signal-safety(7)).
    private static func restore() {
        let descriptor = Self.entered.exchange(-1, ordering: .sequentiallyConsistent)
        guard descriptor >= 0 else { return }
        let settings = Self.settings.withLockIfAvailable { $0 } ?? nil
        // Where another process group has the terminal, the settings are no longer ours to change.
        let isOurs = Self.isForeground(descriptor)
        if var settings, isOurs {
            // Without flow control, output that Ctrl-S holds up goes on.
            settings.c_iflag &= ~tcflag_t(IXON)
            unsafe tcsetattr(descriptor, TCSANOW, &settings)
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if unsafe poll(&entry, 1, Self.patience) == 1 {
            _ = unsafe write(descriptor, Self.leaving.utf8Start, Self.leaving.utf8CodeUnitCount)
        }
        if var settings, isOurs { unsafe tcsetattr(descriptor, TCSANOW, &settings) }
    }

    /// Whether the terminal is this process group's to use.
    static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        // A terminal that controls no session knows no foreground.
        return group == -1 || group == getpgrp()
    }

    // MARK: Keys

    /// Where keys are read now; nil while the screen is not ours.
    var input: Int32? {
        self.readsKeys && Self.entered.load(ordering: .sequentiallyConsistent) >= 0 ? STDIN_FILENO : nil
    }

    /// Reads the keys that were pressed; only when there are any.
    func takeKeys() -> LoopWakeUp.Reasons {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        let keys = bytes.prefix(max(0, count))
        // No bytes means that the terminal is gone.
        if keys.isEmpty || keys.contains(UInt8(ascii: "q")) || keys.contains(UInt8(ascii: "Q")) { return .stop }
        // Ctrl-L draws anew, as everywhere.
        return keys.contains(0x0C) ? .resume : []
    }
}
