// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP

/// The transfers that are under way; only the thread of the engine has it.
struct Transfers {
    /// Handles keep their buffers, which are worth more than the handles.
    private static let spareHandles = 16

    private let multi: MultiHandle
    private let configuration: EasyHandle.Configuration
    private var transfers: [UInt64: Transfer] = [:]
    private var spare: [EasyHandle] = []
    /// The servers that refuse to be asked first whether they take a long body, the last ones.
    private var refusers: Set<String> = []
    /// When the path changed; nil when no connection can be left from before that.
    private var pathChange: ContinuousClock.Instant?

    /// How often it is looked for endless framing at most; that keeps the thread awake.
    private static let framingInterval: Duration = .milliseconds(250)
    private var framingLook = ContinuousClock.now

    /// When to call ``advance()`` even if nothing happens; nil while nothing is under way.
    private(set) var nextLook: ContinuousClock.Instant?

    init(_ multi: MultiHandle, _ configuration: EasyHandle.Configuration) {
        self.multi = multi
        self.configuration = configuration
    }

    var isEmpty: Bool { self.transfers.isEmpty }

    mutating func start(_ job: Job) {
        guard let easy = self.spare.popLast() ?? EasyHandle(self.configuration) else {
            job.fail(.other, .notSent, "libcurl has no memory")
            return
        }
        let transfer = Transfer(job, easy)
        do throws(Transfer.Failure) {
            try transfer.prepare(asksFirst: !self.refusers.contains(job.request.origin))
        } catch {
            job.fail(error.reason, .notSent, error.message)
            return
        }
        if let change = self.pathChange {
            let age = ContinuousClock.now - change
            easy.refuseConnections(idleFor: age)
            if age > EasyHandle.connectionAge { self.pathChange = nil }
        }
        guard self.multi.add(easy) else {
            job.fail(.other, .notSent, "libcurl does not take the request")
            return
        }
        self.transfers[job.number] = transfer
        let look = transfer.watch.nextLook
        self.nextLook = min(self.nextLook ?? look, look)
    }

    /// What is idle now may lead nowhere; what is under way shows by itself whether its connection works.
    mutating func pathChanged() { self.pathChange = .now }

    mutating func cancel(_ number: UInt64) {
        guard let transfer = self.transfers[number] else { return }
        transfer.failure = Transfer.Failure(.cancelled, "cancelled")
        self.end(transfer, code: nil)
    }

    mutating func cancel(from addresses: Set<String>) {
        for (number, transfer) in self.transfers where transfer.localAddress.map({ addresses.contains($0) }) ?? true {
            self.cancel(number)
        }
    }

    /// Moves everything that can be moved, and ends what has ended.
    mutating func advance() {
        self.multi.perform()
        while let (transfer, code) = self.multi.nextResult() { self.end(transfer, code: code) }
        guard let nextLook = self.nextLook else { return }
        let now = ContinuousClock.now
        if now >= self.framingLook { self.endEndlessFraming(at: now) }
        guard now >= nextLook else { return }
        for transfer in self.transfers.values where transfer.isStalled(at: now) {
            transfer.failure = Transfer.Failure(
                .timedOut,
                "hardly anything moved for \(transfer.job.request.timeouts.stall), see the timeout 'stall'"
            )
            self.end(transfer, code: nil)
        }
        self.nextLook = self.transfers.values.lazy.map(\.watch.nextLook).min()
    }

    private mutating func endEndlessFraming(at now: ContinuousClock.Instant) {
        self.framingLook = now + Self.framingInterval
        for transfer in self.transfers.values where transfer.hasEndlessFraming() {
            let text = "the server sends more than \(FramingWatch.limit) bytes around a chunk of the body"
            transfer.failure = Transfer.Failure(.badResponse, text)
            self.end(transfer, code: nil)
        }
    }

    private mutating func end(_ transfer: Transfer, code: UInt32?) {
        if transfer.refusesToBeAsked {
            if self.refusers.count >= 256 { self.refusers.removeAll() }
            self.refusers.insert(transfer.job.request.origin)
        }
        let result = transfer.result(code: code)
        self.multi.remove(transfer.easy)
        self.transfers[transfer.job.number] = nil
        if self.transfers.isEmpty { self.nextLook = nil }
        if self.spare.count < Self.spareHandles {
            transfer.easy.reset()
            self.spare.append(transfer.easy)
        }
        transfer.job.receive(result)
    }
}

extension TransportRequest {
    /// The scheme and the authority of its address.
    fileprivate var origin: String { self.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//") }
}
