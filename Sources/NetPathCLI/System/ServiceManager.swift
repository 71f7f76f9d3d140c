// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// The service manager that started the process, where one did (sd_notify(3)).
struct ServiceManager: Sendable {
    /// How often the manager wants to hear that the process lives; nil when it does not.
    let watchdogInterval: Duration?
    private let socket: FileDescriptor?
    private let name: [UInt8]

    init(_ environment: [String: String]) {
        let name = environment["NOTIFY_SOCKET"] ?? ""
        // An abstract name begins with @ where the address has a zero.
        self.name = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        let isUsable = name.hasPrefix("/") || name.hasPrefix("@")
        self.socket = isUsable ? FileDescriptor(Glibc.socket(AF_UNIX, SocketType.datagram, 0)) : nil
        let isForThis = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
        let limit = isForThis ? environment["WATCHDOG_USEC"].flatMap { Int64($0) } : nil
        self.watchdogInterval = limit.map { .microseconds($0 / 2) }
    }

    /// Tells the manager something, such as `READY=1`; nothing happens without one.
    func tell(_ lines: String...) {
        guard let socket else { return }
        // A text from outside must not become a line of its own.
        let text = Array(lines.map { $0.printable(limit: 512) }.joined(separator: "\n").utf8)
        _ = unsafe UnixAddress(name: self.name).with { address, length in
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            return unsafe text.withUnsafeBytes { text in
                unsafe Int32(sendto(socket.number, text.baseAddress, text.count, flags, address, length))
            }
        }
    }

    /// Whether the process is root's.
    static var isRoot: Bool { geteuid() == 0 }

    /// Whether standard error is the journal, which takes the priority of a message at its beginning (sd-daemon(3)).
    static func isJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], unsafe fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
