// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import NetPathCurl
import NetPathSystem
import OfflineRequests
import Synchronization

/// What a command works with: the file, the queue in it, and a loop on the main thread to wait in.
final class QueueSession {
    /// Whose queue the usual one is.
    static let application = "netpath"

    /// The file that was named; nil for the usual one.
    let file: String?
    let loop: EventLoop
    /// What was opened to change or to send.
    private var queue: OfflineRequestQueue?
    private var toldSalvages = 0
    private var isClosed = false
    /// When the time is over that a command may take; nil without a limit.
    private(set) var deadline: MonotonicTime?

    /// SQLite, libcurl and the runtime of Swift keep so many for themselves; the runtime ends the process where it gets none.
    private static let leastDescriptors = 32

    init(file: String?) throws {
        let limit = OpenFiles.limit
        guard limit >= Self.leastDescriptors else {
            throw ToolFailure(
                .failure,
                "a process may have \(limit) descriptors here, which are too few for a queue; allow "
                    + "\(Self.leastDescriptors) or more with 'ulimit -n'"
            )
        }
        self.file = file
        self.loop = try EventLoop()
    }

    /// Opens the queue; this process does not send.
    func open() throws -> OfflineRequestQueue {
        try Shortage.check(threads: 4)
        let queue = try OfflineRequestQueue(
            application: Self.application,
            file: self.file,
            settings: QueueSettings(sends: false),
            // Never started: what does not send need not know of the network.
            monitor: NetworkMonitor()
        )
        self.queue = queue
        return queue
    }

    /// Opens a queue that is there, to change what is in it.
    ///
    /// - Throws: `QueueError.missing` where a file was named that is not there: that is a typing error.
    func openExisting() throws -> OfflineRequestQueue {
        if let file = self.file, !FileManager.default.fileExists(atPath: file) { throw QueueError.missing(path: file) }
        return try self.open()
    }

    /// Opens the queue to look into it; nil where no file was named, and no process has put anything into the usual one.
    func read() throws -> QueueReader? {
        try Shortage.check(threads: 2)
        do throws(QueueError) { return try QueueReader(application: Self.application, file: self.file) } catch {
            guard case .missing = error, self.file == nil else { throw error }
            return nil
        }
    }

    /// Says what was damaged, unless that was said.
    ///
    /// - Returns: Whether a file was damaged, and not only removed or replaced, at any time.
    @discardableResult
    func tellDamage() -> Bool {
        guard let queue = self.queue else { return false }
        for event in queue.salvages.dropFirst(self.toldSalvages) {
            // An error names the file itself.
            let place = event.isSalvage ? "\(queue.file): " : ""
            ToolContext.current.say(place + (event.details ?? ""))
            self.toldSalvages += 1
        }
        // Of a file that was removed at most the journal is left, and the new one is whole.
        return queue.salvages.contains(where: \.isSalvage)
    }

    /// Opens the queue, to send once it is started, over the paths that the configuration describes.
    func openToSend(
        _ options: RequestOptions,
        trusting trust: TrustOptions,
        within limit: TimeLimit?
    ) throws -> OfflineRequestQueue {
        var settings = QueueSettings()
        if let limit {
            self.deadline = self.loop.now() + limit.duration
            settings.waitsUntil = .now + limit.duration
            Shortage.end(after: limit.duration)
        }
        // Of the queue, the monitor and its backends, the transport, and for the names of hosts.
        try Shortage.check(threads: 10)
        for path in [trust.file, trust.folder].compactMap({ $0 })
        where !FileManager.default.isReadableFile(atPath: path) {
            throw ToolFailure(.usage, "\(path.safe): these certificates cannot be read")
        }
        let certificates = trust.file.flatMap { FileAccess.contents($0, limit: 1 << 24) }
        if let file = trust.file, certificates?.contains("CERTIFICATE-----") == false {
            throw ToolFailure(.usage, "\(file.safe): no certificate is in this file (PEM)")
        }
        let transport =
            trust.file == nil && trust.folder == nil
            ? CurlTransport.shared
            : CurlTransport(certificateAuthority: trust.file, certificateFolder: trust.folder)
        let monitor = NetworkMonitor(
            deliverOn: .queue(DispatchQueue(label: "netpath.monitor")),
            makeCoordinator: try options.configuredCoordinator()
        )
        let queue = try OfflineRequestQueue(
            application: Self.application,
            file: self.file,
            settings: settings,
            transport: transport,
            monitor: monitor
        )
        self.queue = queue
        return queue
    }

    /// Whether another process may have kept the queue until the time was over.
    func isOver(_ error: QueueError) -> Bool {
        if case .io = error, let deadline { self.loop.now() >= deadline } else { false }
    }

    /// Closes the queue, and waits for that: what was delivered or cancelled leaves the journal then.
    ///
    /// - Parameter limit: How long it waits: for a process that has the file, or a thread that the system does not grant.
    func close(within limit: Duration = .seconds(10)) {
        guard let queue = self.queue, !self.isClosed else { return }
        self.isClosed = true
        _ = self.wait(within: limit) { () async throws(QueueError) in await queue.shutdown(within: .zero) }
    }

    /// Waits for something asynchronous on this thread, but not for longer than a limit; nil when it goes on.
    func wait<Value: Sendable>(
        within limit: Duration,
        for body: @escaping @Sendable () async throws(QueueError) -> Value
    ) -> Result<Value, QueueError>? {
        let work = self.begin(body)
        let deadline = self.loop.now() + limit
        while work.result == nil, case let rest = deadline - self.loop.now(), rest > .zero {
            _ = self.loop.reasons(limit: rest)
        }
        return work.result
    }

    /// Waits for something asynchronous on this thread; nothing here needs the pool of the runtime.
    func wait<Value: Sendable>(
        for body: @escaping @Sendable () async throws(QueueError) -> Value
    ) throws(QueueError) -> Value {
        let work = self.begin(body)
        while true {
            if let result = work.result { return try result.get() }
            _ = self.loop.reasons()
        }
    }

    /// Begins something asynchronous on the thread of the loop, which its end wakes.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws(QueueError) -> Value) -> Work<Value> {
        let work = Work<Value>()
        let loop = self.loop
        Task(executorPreference: loop) {
            let result: Result<Value, QueueError>
            do throws(QueueError) { result = .success(try await body()) } catch { result = .failure(error) }
            work.end(result)
            loop.wakeUp.wake(.output)
        }
        return work
    }

    final class Work<Value: Sendable>: Sendable {
        private let state = Mutex<Result<Value, QueueError>?>(nil)

        /// What came of it; nil while it goes on.
        var result: Result<Value, QueueError>? { self.state.withLock { $0 } }

        fileprivate func end(_ result: Result<Value, QueueError>) {
            self.state.withLock { $0 = result }
        }
    }
}

extension ToolFailure {
    /// Says what the queue said: what the caller did wrong is wrong usage, the rest is not.
    init(_ error: QueueError) {
        let status: ToolStatus =
            switch error {
            case .invalidRequest, .bodyTooLarge, .bodyUnreadable: .usage
            case .unknownID: .unsatisfied
            default: .failure
            }
        let advice = if case .corrupt(_, setAsideAs: nil) = error { ": \(typed("queue repair"))" } else { "" }
        self.init(status, (error.description + advice).safe)
    }
}

extension UUID {
    /// Reads one that was typed.
    init(argument: String) throws(ToolFailure) {
        guard let id = UUID(uuidString: argument) else {
            throw ToolFailure(
                .usage,
                "'\(argument.safe)' is not an identifier; 'send' prints them, and 'queue list' shows them"
            )
        }
        self = id
    }
}
