// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

/// The source of a backend is gone for a while: thrown by what looks at it, and said to the coordinator by who polls.
public struct SourceUnavailable: Error, Hashable, CustomStringConvertible {
    /// What is missing, for people.
    public let description: String

    /// Creates the error.
    ///
    /// - Parameter sentence: What is missing, for people, such as `modem0 does not answer`.
    public init(_ sentence: String) {
        self.description = sentence
    }
}

extension MonitorContext {
    /// Looks at once, at intervals, when a file changes and whenever the coordinator asks, until the task is cancelled.
    ///
    /// All of `PathMonitor.run(_:)` for a backend that finds out by looking:
    ///
    /// ```swift
    /// func run(_ context: MonitorContext) async throws {
    ///     try await context.poll(every: .seconds(2), watching: ["/run/modem/status"]) {
    ///         guard let status = Status(file: "/run/modem/status") else {
    ///             throw SourceUnavailable("the modem's daemon does not run")
    ///         }
    ///         return status.evidence(at: context.clock.now())
    ///     }
    /// }
    /// ```
    ///
    /// What is seen is reported when it is news, and for every request. Asked once, it looks once. No thread is held up
    /// while it waits; files cost one thread that sleeps, and an inotify instance, which is closed when this returns.
    /// A look that blocks runs on a thread of its own: `try await BackgroundThread.run { … }`.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks.
    ///   - paths: Absolute paths of files that are looked at also when they change; they need not exist.
    ///   - look: Looks, and tells what it sees. ``SourceUnavailable`` makes the backend unhealthy until the next look.
    /// - Throws: What `look` throws otherwise, or an error that says why files cannot be watched.
    public func poll(
        every interval: Duration,
        watching paths: [String] = [],
        _ look: () async throws -> Evidence
    ) async throws {
        var last: Evidence?
        try await self.poll(watching: paths) { cause in
            do {
                let evidence = try await look()
                if evidence != last || cause.isAsked { self.report(evidence) }
                last = evidence
            } catch let error as SourceUnavailable {
                last = nil
                self.reportUnavailable(error.description)
            }
            return PollPause(until: self.clock.now() + interval)
        }
    }

    /// Looks as often as the looks themselves say, when a file changes and whenever the coordinator asks, until the task
    /// is cancelled.
    ///
    /// - Parameters:
    ///   - paths: Absolute paths of files that are looked at also when they change; they need not exist.
    ///   - look: Looks, and reports: also when it saw no news, if it was asked. Returns when to look again.
    /// - Throws: What `look` throws, or an error that says why files cannot be watched.
    public func poll(watching paths: [String] = [], _ look: (PollCause) async throws -> PollPause) async throws {
        let signal = PollSignal()
        let watch = paths.isEmpty || self.asksOnce ? nil : try FileWatch(paths)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.refreshRequests { signal.send(.asked) }
            }
            if let watch { group.addTask { await watch.run(signal) } }
            // The group waits for the thread, which does not hear of a cancellation.
            defer {
                watch?.stop()
                group.cancelAll()
            }
            while !Task.isCancelled {
                let cause = signal.take()
                try watch?.check()
                let pause = try await look(cause)
                if self.asksOnce { return }
                let earliest = pause.earliest ?? self.clock.now() + PollPause.shortest
                await signal.wait(until: pause.end, self.clock)
                try? await self.clock.sleep(until: earliest)
            }
        }
    }
}

/// Why a poller looks.
public struct PollCause: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates a cause of its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The coordinator asks, and waits for a report.
    public static let asked = PollCause(rawValue: 1)
    /// A file changed.
    public static let fileChanged = PollCause(rawValue: 2)

    /// Whether a report is due even without news.
    public var isAsked: Bool { self.contains(.asked) }
}

/// When a poller looks again.
public struct PollPause: Hashable, Sendable {
    /// The shortest pause unless another one is named, however many looks are asked for.
    public static let shortest = Duration.milliseconds(50)

    /// When it looks at the latest.
    public var end: MonotonicTime
    /// When it may look for a refresh request; nil for ``shortest`` after the look.
    public var earliest: MonotonicTime?

    /// Creates a pause.
    ///
    /// - Parameters:
    ///   - end: When it ends at the latest.
    ///   - earliest: When a refresh request may end it; nil for ``shortest`` after the look.
    public init(until end: MonotonicTime, notBefore earliest: MonotonicTime? = nil) {
        self.end = end
        self.earliest = earliest
    }
}
