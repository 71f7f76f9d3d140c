// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Dispatch
import Glibc
import NetPath
import NetPathSystem

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
        // Where libdispatch does not get those it needs it ends the process.
        guard Self.areDescriptorsLeft, let files = FileWatch() else { return nil }
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

    /// Whether the system grants so many descriptors as a queue needs besides those of its connections.
    private static var areDescriptorsLeft: Bool {
        let descriptors = (0..<16).map { _ in FileDescriptor(unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)) }
        return descriptors.allSatisfy { $0 != nil }
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

    func wasWoken() { self.deadline = nil }

    func cancel() {
        self.source.cancel()
        for timer in self.timers { timer.cancel() }
    }
}

/// Hears what other processes do to files, without asking again and again (`inotify(7)`).
final class FileWatch: Sendable {
    /// What is heard; a file that a process has open is not gone when it is removed: it has one name less.
    struct Event: Sendable {
        fileprivate let mask: Int

        /// A descriptor that could write was closed, by whatever end its process came to.
        static let closedAfterWriting = Event(mask: Int(IN_CLOSE_WRITE | IN_ATTRIB))
        /// Something was read.
        static let read = Event(mask: Int(IN_ACCESS | IN_ATTRIB))
        /// A name of it was removed, or it got another.
        static let removed = Event(mask: Int(IN_ATTRIB | IN_MOVE_SELF))
    }

    let descriptor: FileDescriptor

    init?() {
        guard let descriptor = FileDescriptor(inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))) else { return nil }
        self.descriptor = descriptor
    }

    /// Begins to watch a file; returns whether it can be.
    func add(_ path: String, _ event: Event) -> Bool {
        unsafe inotify_add_watch(self.descriptor.number, path, UInt32(event.mask)) >= 0
    }

    /// Forgets what was heard, and returns whether there was anything: that is all that counts.
    @discardableResult
    func take() -> Bool {
        var isHeard = false
        while let events = self.descriptor.read(limit: 4096), !events.isEmpty { isHeard = true }
        return isHeard
    }
}
