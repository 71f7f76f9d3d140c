// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// The lock on a file beside the queue that keeps the queue from being replaced while it is used.
///
/// A process that reads or writes shares it; one that makes the file, or replaces a damaged one, has it alone.
/// Unlike SQLite's own locks it stays valid when the file under the name becomes another. It also carries notifications between
/// processes, since all of them have it open: a process that watches it is told that it is read.
final class StoreLock: Sendable {
    private let descriptor: FileDescriptor
    private let path: String
    /// Until when is waited at the latest; nil for no limit of its own.
    private let limit: ContinuousClock.Instant?

    init(_ path: String, waitingUntil limit: ContinuousClock.Instant? = nil) throws(QueueError) {
        self.descriptor = try StoreFiles.create(path)
        self.path = path
        self.limit = limit
        // To read nothing is no event.
        if self.descriptor.status?.st_size == 0 { _ = unsafe pwrite(self.descriptor.number, "\n", 1, 0) }
    }

    /// The lock of a queue that exists; nil where there is none, or it is not for this user.
    init?(existing path: String) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        self.descriptor = descriptor
        self.path = path
        self.limit = nil
    }

    /// Whether the file is still the one under its name, which others lock.
    var isInPlace: Bool {
        guard let status = self.descriptor.status else { return false }
        return StoreFiles.identity(self.path) == FileIdentity(status)
    }

    /// Shares it; the error says which process has it alone for longer.
    func share(within patience: Duration) throws(QueueError) { try self.lock(LOCK_SH, within: patience) }

    /// Has it alone; the error says which process shares it for longer, and this one may share it no more then.
    func takeAlone(within patience: Duration) throws(QueueError) { try self.lock(LOCK_EX, within: patience) }

    func release() { _ = flock(self.descriptor.number, LOCK_UN) }

    private func lock(_ operation: Int32, within patience: Duration) throws(QueueError) {
        let begin = ContinuousClock.now
        let deadline = min(begin + patience, self.limit ?? begin + patience)
        // flock(2) knows no deadline.
        while flock(self.descriptor.number, operation | LOCK_NB) != 0 {
            guard [EWOULDBLOCK, EINTR].contains(errno) else { throw StoreFiles.error(errno, self.path) }
            if .now >= deadline {
                let holders = LockHolders.text(of: [self.path])
                let time = Duration.seconds((max(.zero, deadline - begin) / .seconds(1)).rounded(.up))
                let reason = "\(holders) kept the queue for \(time), to open or to repair it; try again, or end it"
                throw .io(path: self.path, reason: reason)
            }
            usleep(5_000)
        }
    }

    /// Tells the other processes to look into the queue.
    func notifySender() {
        var byte: UInt8 = 0
        _ = unsafe pread(self.descriptor.number, &byte, 1, 0)
    }
}

/// Which processes have locks on a file, for people who wait for them (`proc_locks(5)`).
enum LockHolders {
    /// The holders of locks on files, as a sentence begins; not this process.
    static func text(of paths: [String]) -> String {
        let names = self.names(of: paths)
        guard !names.isEmpty else { return "another process has" }
        return "\(names.prefix(3).joined(separator: ", ")) \(names.count == 1 ? "has" : "have")"
    }

    /// The holders of locks on files; not this process.
    static func names(of paths: [String]) -> [String] {
        let numbers = Set(paths.compactMap { StoreFiles.identity($0)?.number })
        let locks = FileAccess.contents("/proc/locks", limit: 1 << 24) ?? ""
        var names: [String] = []
        for line in locks.split(separator: "\n") {
            // 1: FLOCK ADVISORY WRITE 4711 00:2a:123456 0 EOF; one that waits has an arrow behind the number, and one of an
            // open file description no process.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] != "->", let process = Int32(words[4]), process > 0, process != getpid(),
                let number = words[5].split(separator: ":").last.flatMap({ UInt64($0) }), numbers.contains(number)
            else { continue }
            let program = FileAccess.contents("/proc/\(process)/comm").map { " (\($0.prefix { !$0.isNewline }))" } ?? ""
            let name = "process \(process)\(program)"
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
