// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import Reachability
import Synchronization

/// A request that succeeds in the end: it waits until the host can be reached, tries again when the connection is lost,
/// stays away from cellular links if told to, and can be cancelled at any time.
final class BulletproofRequest: Operation, @unchecked Sendable {
    enum Failure: Error {
        case cancelled
    }

    /// Receives what each step of the request does.
    let log: @Sendable (String) -> Void
    /// Whether it may go over a cellular link.
    let allowsCellularAccess: Bool

    private struct State {
        var isExecuting = false
        var isFinished = false
        var isRequesting = false
        var connection: SocketClient?
        var result: Result<String, any Error>?
    }

    private let host: HostReachability
    private let port: UInt16
    private let state = Mutex(State())

    /// - Throws: `HostReachabilityError` when the host is none.
    init(
        host: String,
        port: UInt16,
        on coordinator: PathCoordinator? = nil,
        allowsCellularAccess: Bool = true,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        self.host = try HostReachability(host: host, on: coordinator)
        self.port = port
        self.allowsCellularAccess = allowsCellularAccess
        self.log = log
    }

    /// What came of it, once it is finished.
    var result: Result<String, any Error>? { self.state.withLock { $0.result } }

    // MARK: Waiting

    private func isUsable(_ status: HostStatus) -> Bool {
        status.isReachable(allowingCellular: self.allowsCellularAccess)
    }

    private func check() {
        let status = self.host.reach()
        guard !self.isUsable(status) else { return self.request(status) }
        let isInstalled = self.host.reach { [weak self] status in
            guard let self else { return }
            if self.isUsable(status) { self.request(status) } else { self.log("waiting: \(status.name)") }
        }
        if !isInstalled { self.done(.failure(Failure.cancelled)) }
    }

    // MARK: Requesting

    private func request(_ status: HostStatus) {
        guard let address = status.route?.address, let connection = SocketClient(address.family) else {
            return self.retry()
        }
        let mayStart = self.state.withLock { state in
            // The status can change again while a request is under way; then that request tells.
            guard !state.isFinished, !state.isRequesting else { return false }
            state.isRequesting = true
            state.connection = connection
            return true
        }
        guard mayStart else { return }
        self.log("requesting: \(status.reason.message)")
        Thread.detachNewThread { [self] in
            let answer = connection.exchange("GET / HTTP/1.0\r\n\r\n", with: address, port: self.port)
            self.state.withLock { state in
                state.isRequesting = false
                state.connection = nil
            }
            switch answer {
            case .success(let text): self.done(.success(text))
            case .failure(let loss):
                self.log("lost: \(loss)")
                self.retry()
            }
        }
    }

    /// Tries again after a pause: a host that can be reached may still be restarting.
    private func retry() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { [weak self] in
            if let self, !self.isFinished { self.check() }
        }
    }

    private func done(_ result: Result<String, any Error>) {
        self.host.cancel()
        self.willChangeValue(forKey: "isExecuting")
        self.willChangeValue(forKey: "isFinished")
        let connection = self.state.withLock { state in
            state.result = state.result ?? result
            state.isExecuting = false
            state.isFinished = true
            return state.connection.take()
        }
        self.didChangeValue(forKey: "isFinished")
        self.didChangeValue(forKey: "isExecuting")
        connection?.abort()
    }

    // MARK: Operation

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { self.state.withLock { $0.isExecuting } }
    override var isFinished: Bool { self.state.withLock { $0.isFinished } }

    override func start() {
        guard !self.isCancelled else { return self.done(.failure(Failure.cancelled)) }
        self.willChangeValue(forKey: "isExecuting")
        self.state.withLock { $0.isExecuting = true }
        self.didChangeValue(forKey: "isExecuting")
        self.check()
    }

    override func cancel() {
        super.cancel()
        // One that has not started yet is finished by its queue.
        if self.isExecuting { self.done(.failure(Failure.cancelled)) }
    }
}
