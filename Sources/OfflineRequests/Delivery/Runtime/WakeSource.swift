// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import Glibc
import NetPath
import NetPathSystem

/// Hears what other processes do to files, without asking again and again (`inotify(7)`).
final class FileWatch: Sendable {
    /// What is heard.
    enum Event: Sendable {
        /// A descriptor that could write was closed, by whatever end its process came to.
        case closedAfterWriting
        /// Something was read.
        case read
        /// Something was written.
        case written
        /// A name of it was removed, or it got another.
        case removed
    }

    let descriptor: FileDescriptor

    init?() {
        guard let descriptor = FileDescriptor(inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))) else { return nil }
        self.descriptor = descriptor
    }

    /// Begins to watch a file; nil when it cannot be.
    func add(_ path: String, _ event: Event) -> Int32? {
        let mask: Int32 =
            switch event {
            // A file that somebody has open is not gone yet: it has one name less.
            case .closedAfterWriting: Int32(IN_CLOSE_WRITE | IN_ATTRIB)
            case .read: Int32(IN_ACCESS | IN_ATTRIB)
            case .removed: Int32(IN_ATTRIB | IN_MOVE_SELF)
            case .written: Int32(IN_MODIFY)
            }
        let number = unsafe inotify_add_watch(self.descriptor.number, path, UInt32(mask))
        return number < 0 ? nil : number
    }

    /// Watches a file no more.
    func remove(_ watch: Int32) {
        _ = inotify_rm_watch(self.descriptor.number, watch)
    }

    /// Forgets what was heard: that there was something is all that counts.
    ///
    /// - Returns: Whether there was.
    @discardableResult
    func take() -> Bool {
        let size = 4096
        var buffer = [UInt8](repeating: 0, count: size)
        var count = unsafe read(self.descriptor.number, &buffer, size)
        let isHeard = count > 0
        while count == size { count = unsafe read(self.descriptor.number, &buffer, size) }
        return isHeard
    }
}

/// What wakes a queue besides its callers: files that change, and one point in time.
///
/// Without a point in time nothing of it ever wakes the processor.
final class WakeSource {
    let files: FileWatch
    private let source: any DispatchSourceRead
    /// Two clocks, since that of uptime stands still while the machine is suspended, and that on the wall may be set
    /// back: whichever comes first has the queue look at CLOCK_BOOTTIME.
    private let timers: [any DispatchSourceTimer]
    private var deadline: MonotonicTime?

    /// Calls functions on a queue; nil when the system grants no descriptor.
    init?(
        on queue: DispatchQueue,
        fileChanged: @escaping @Sendable () -> Void,
        timeCame: @escaping @Sendable () -> Void
    ) {
        guard let files = FileWatch() else { return nil }
        self.files = files
        self.source = DispatchSource.makeReadSource(fileDescriptor: files.descriptor.number, queue: queue)
        self.source.setEventHandler { if files.take() { fileChanged() } }
        // The descriptor stays open for as long as it is waited for.
        self.source.setCancelHandler { withExtendedLifetime(files) {} }
        self.timers = (0..<2).map { _ in DispatchSource.makeTimerSource(queue: queue) }
        for timer in self.timers { timer.setEventHandler(handler: timeCame) }
        self.source.activate()
        for timer in self.timers { timer.activate() }
    }

    /// Names the only point in time to wake at; nil for none.
    func wake(at deadline: MonotonicTime?, now: MonotonicTime) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        // A little late, because early is as bad as never: it would be asked again at once.
        let rest = deadline.map { DispatchTimeInterval.nanoseconds(Int(max(.zero, $0 - now).inNanoseconds) + 100_000) }
        self.timers[0].schedule(deadline: rest.map { .now() + $0 } ?? .distantFuture)
        self.timers[1].schedule(wallDeadline: rest.map { .now() + $0 } ?? .distantFuture)
    }

    /// That point in time has come.
    func wasWoken() { self.deadline = nil }

    func cancel() {
        self.source.cancel()
        for timer in self.timers { timer.cancel() }
    }
}
