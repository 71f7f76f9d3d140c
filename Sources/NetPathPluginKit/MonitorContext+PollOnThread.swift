// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathSystem

extension MonitorContext {
    /// Looks as ``poll(every:watching:_:)`` does, on a thread of its own, where it may block.
    ///
    /// A cancellation ends it after the look that is under way: one that can take longer than 2 s has to give up by
    /// itself.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks.
    ///   - paths: Absolute paths of files that are looked at also when they change; they need not exist.
    ///   - look: Looks, and tells what it sees. ``SourceUnavailable`` makes the backend unhealthy until the next look.
    /// - Throws: What `look` throws otherwise, or `SystemError` when the system grants no thread or no descriptors.
    public func pollOnThread(
        every interval: Duration,
        watching paths: [String] = [],
        _ look: @escaping @Sendable () throws -> Evidence
    ) async throws {
        let mailbox = try Mailbox(PollRequests())
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in self.refreshRequests { mailbox.post { $0.isAsked = true } }
                }
                defer { group.cancelAll() }
                try await BackgroundThread.run {
                    try self.look(every: interval, watching: paths, mailbox, look)
                }
            }
        } onCancel: {
            mailbox.post { $0.isOver = true }
        }
    }

    private func look(
        every interval: Duration,
        watching paths: [String],
        _ mailbox: Mailbox<PollRequests>,
        _ look: () throws -> Evidence
    ) throws {
        // Before the first look, so that nothing is missed in between.
        let watcher = paths.isEmpty || self.asksOnce ? nil : FileWatcher(paths: paths)
        if watcher == nil, !paths.isEmpty, !self.asksOnce { throw SystemError.last("cannot watch files") }
        var news = News()
        while true {
            let requests = mailbox.take()
            if requests.isOver { return }
            do {
                let evidence = try look()
                if news.isNews(evidence) || requests.isAsked { self.report(evidence) }
            } catch let error as SourceUnavailable {
                news.forget()
                self.reportUnavailable(error.description)
            }
            if self.asksOnce { return }
            // A storm of requests, or a file that never comes to rest, is not a reason to do nothing else.
            _ = FileDescriptor.poll(readable: [], timeout: PollPause.shortest)
            self.wait(until: self.clock.now() + interval, mailbox, watcher)
        }
    }

    private func wait(until end: MonotonicTime, _ mailbox: Mailbox<PollRequests>, _ watcher: FileWatcher?) {
        let descriptors = [mailbox.fileDescriptor, watcher?.fileDescriptor ?? -1]
        while true {
            let now = self.clock.now()
            if now >= end { return }
            let ready = FileDescriptor.poll(readable: descriptors, timeout: end - now)
            if ready[0] { return }
            if ready[1], watcher?.takeChanges() == true { return }
        }
    }
}

private struct PollRequests: Sendable {
    var isAsked = false
    var isOver = false
}
