// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPath
import NetPathSystem

/// A lock on a file beside the queue, of which there are two.
///
/// That of ``StorePaths/lock`` keeps the queue from being replaced while it is used: a process that reads or writes shares
/// it; one that makes the file, or replaces a damaged one, has it alone. Unlike SQLite's own locks it stays valid when the
/// file under the name becomes another. It also carries notifications between processes, since all of them have it open: a
/// process that watches it is told that it is read.
///
/// That of ``QueueFile/senderLock(of:)`` is had by the process that sends. The kernel gives it back however its holder ends,
/// and with the end of this object, so there is no lease to renew and none to expire. That end is heard: a descriptor that
/// could write to the file is closed then, for which the others watch it.
final class FileLock: Sendable {
    private let descriptor: FileDescriptor
    private let path: String
    private let identity: FileIdentity?
    /// Until when is waited at the latest; nil for no limit of its own.
    private let limit: ContinuousClock.Instant?

    init(_ path: String, waitingUntil limit: ContinuousClock.Instant? = nil) throws(QueueError) {
        self.descriptor = try StoreFiles.create(path)
        self.path = path
        self.limit = limit
        let status = self.descriptor.status
        self.identity = status.map { FileIdentity($0) }
        // To read nothing is no event.
        if status?.st_size == 0 { _ = unsafe pwrite(self.descriptor.number, "\n", 1, 0) }
    }

    /// The lock of a queue that exists; nil where there is none, or it is not for this user.
    init?(existing path: String) {
        guard let descriptor = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return nil }
        self.descriptor = descriptor
        self.path = path
        self.identity = descriptor.status.map { FileIdentity($0) }
        self.limit = nil
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
                let time = DurationText.format(.seconds((max(.zero, deadline - begin) / .seconds(1)).rounded(.up)))
                let reason =
                    "\(holders) held the queue locked for \(time), to open or repair it; try again, or end that process"
                throw .io(path: self.path, reason: reason)
            }
            usleep(5_000)
        }
        // What others put under the names later is theirs.
        do throws(QueueError) { try self.checkPlace() } catch {
            self.release()
            throw error
        }
    }

    /// Makes sure that the file is still the one under its name, which others lock.
    func checkPlace() throws(QueueError) {
        guard let identity, try StoreFiles.identity(self.path) == identity else { throw .removed(path: self.path) }
    }

    /// Tells the other processes to look into the queue.
    func notifySender() {
        var byte: UInt8 = 0
        _ = unsafe pread(self.descriptor.number, &byte, 1, 0)
    }

    // MARK: The process that sends

    /// Has it alone, unless another process has it, and leaves word in the file; returns whether it has.
    func take(saying bytes: [UInt8] = []) throws(QueueError) -> Bool {
        guard flock(self.descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            // Of anything else no end would be heard.
            if errno == EWOULDBLOCK { return false }
            throw StoreFiles.error(errno, self.path)
        }
        try self.checkPlace()
        // What the last one said is true no more.
        self.write(bytes)
        return true
    }

    /// Leaves word in the file for those who read it while this has the lock.
    func write(_ bytes: [UInt8]) {
        // As the file begins that is opened at the same time.
        let bytes = [UInt8(ascii: "\n")] + bytes
        let count = unsafe pwrite(self.descriptor.number, bytes, bytes.count, 0)
        // On a full disk it has no room: what was said before is true no more, and half of it says nothing.
        _ = ftruncate(self.descriptor.number, count == bytes.count ? off_t(count) : 0)
    }

    /// Whether a process has the lock alone.
    ///
    /// Not from `/proc/locks`: the kernel hands that out in pieces, and passes over locks when others go meanwhile.
    static func isTaken(at path: String) -> Bool {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) else { return false }
        guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        _ = flock(file.number, LOCK_UN)
        // Who tried at this instant was refused, hears this, and tries again.
        _ = FileDescriptor(unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW))
        return false
    }
}

/// Which requests processes send that send one only: each shares a lock on a byte of the file that says who sends, which the
/// identifier leads to, for as long as it lives.
struct OwnSenders {
    private let file: FileDescriptor?

    /// Looks into the file of a queue's senders.
    init(at path: String) { self.file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) }

    func contains(_ id: UUID) -> Bool { self.file?.isShared(from: Self.place(of: id)) ?? false }

    /// Says that this process sends that request alone, for as long as the descriptor is open.
    static func join(for id: UUID, at path: String) -> FileDescriptor? {
        let file = try? StoreFiles.create(path)
        file?.share(from: self.place(of: id))
        return file
    }

    private static func place(of id: UUID) -> off_t { off_t(Checksum.of(id.uuidString) & (.max >> 1)) }
}

/// Which processes have locks on a file, for people who wait for them (`proc_locks(5)`).
enum LockHolders {
    /// The holders of locks on files, as a sentence begins; not this process.
    static func text(of paths: [String]) -> String {
        let names = self.names(of: paths)
        guard !names.isEmpty else { return "another process has" }
        return "\(names.prefix(3).joined(separator: ", ")) \(names.count == 1 ? "has" : "have")"
    }

    static func names(of paths: [String]) -> [String] {
        let numbers = Set(paths.compactMap { (try? StoreFiles.identity($0))?.number })
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
