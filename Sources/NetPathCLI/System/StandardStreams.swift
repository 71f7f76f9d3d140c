// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// The three standard descriptors.
package enum StandardStreams {
    /// Makes sure that no file opened later becomes a standard stream, and that a vanished reader is an error of the
    /// write rather than a signal.
    static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        // A file that is longer than `ulimit -f` lets it be is an error of the write, too.
        _ = signal(SIGXFSZ, SIG_IGN)
        // The wrong way round, so that using a stream that was closed fails with EBADF instead of seeming to work. A
        // free descriptor is taken in ascending order, hence this loop repairs all three.
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of a message to standard error, however long its reader takes; failures are ignored.
    static func writeMessage(_ text: String) { try? StandardStream.error.write(text) }

    /// Writes a message to standard error unless that would mean to wait: a full pipe must never hold up a monitor.
    static func writeNote(_ text: String) {
        guard StandardStream.error.hasRoom(waiting: 0) else { return }
        // A pipe that reports room takes this much without blocking (PIPE_BUF, pipe(7)).
        let bytes = Array(text.utf8).prefix(4_096)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Whether standard output is a terminal.
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The size of the terminal on standard output; nil when there is none, or it does not say.
    static var size: TerminalSize? { Self.size(of: STDOUT_FILENO) }

    /// The columns of the terminal on standard error now; nil when there is none, or it does not say.
    package static var errorColumns: Int? { Self.size(of: STDERR_FILENO)?.columns }

    private static func size(of descriptor: Int32) -> TerminalSize? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Ends the process, after writing what backends have printed.
    ///
    /// Not by exit(3): that has libnl-route take down its tables while the thread of a backend may still use them, and
    /// libnl aborts then.
    static func exit(_ status: Int32) -> Never {
        _ = fflush(nil)
        _exit(status)
    }
}
