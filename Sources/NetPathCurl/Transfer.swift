// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP

/// A request that is under way; only the thread of the engine has it.
final class Transfer {
    /// Why we end it ourselves.
    struct Failure: Error {
        var reason: TransportError.Reason
        var message: String
        var certificateFault: TransportError.CertificateFault?

        init(_ reason: TransportError.Reason, _ message: String) {
            self.reason = reason
            self.message = message
        }
    }

    let job: Job
    let easy: EasyHandle
    private(set) var watch: StallWatch
    private var framing = FramingWatch()
    /// Set before libcurl is told to give up, because of it.
    var failure: Failure?

    private var head = ResponseHead()
    var body: [UInt8] = []
    /// Whether the rest of a response was not read, which is longer than may be kept.
    var isCut = false
    var source: SourceFile?
    private(set) var destination: DestinationFile?

    /// What the last connection was made from; nil before there is one.
    var localAddress: String?
    /// How often libcurl had a connection and was about to send.
    private var attempts = 0
    /// What libcurl had sent altogether before the last attempt.
    private var sentBefore = 0
    private var anEarlierAttemptWasSent = false
    private var mayHaveAsked = false

    init(_ job: Job, _ easy: EasyHandle) {
        self.job = job
        self.easy = easy
        self.watch = StallWatch(limit: job.request.timeouts.stall, rate: job.request.timeouts.minimumRate, now: .now)
    }

    /// Opens files and sets libcurl up; `asksFirst` says whether the server may be asked first whether it takes a long body.
    func prepare(asksFirst: Bool) throws(Failure) {
        let request = self.job.request
        self.mayHaveAsked = asksFirst && request.headers["Expect"] == nil
        if case .file(let path) = request.body { self.source = try SourceFile(path) }
        if let path = request.responseFile { self.destination = try DestinationFile(path) }
        if let reason = self.easy.prepare(request, bodySize: self.source?.size, asksFirst: asksFirst, for: self) {
            throw Failure(reason, "libcurl does not accept it: \(self.easy.errorText)")
        }
    }

    // MARK: What libcurl asks for

    /// Decides whether to send, now that there is a connection.
    ///
    /// When a connection that was used before ends without an answer, libcurl repeats the request by itself, whatever
    /// its method; only this tells us.
    func mayBegin() -> Bool {
        let sent = self.easy.sentHeadSize
        defer {
            self.attempts += 1
            self.sentBefore = sent
        }
        guard self.attempts > 0 else { return true }
        // 417: the server has refused to read, and libcurl sends without asking first.
        if sent > self.sentBefore && self.head.status != 417 { self.anEarlierAttemptWasSent = true }
        (self.head, self.framing) = (ResponseHead(), FramingWatch())
        let isIdempotent = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(self.job.request.method)
        guard self.anEarlierAttemptWasSent && !isIdempotent else { return true }
        self.failure = Failure(.connectionLost, "the server closed the connection without an answer")
        return false
    }

    func seek(to offset: Int) -> Bool {
        self.source?.offset = offset
        return self.source != nil
    }

    func takeHeader(_ line: [UInt8]) -> Bool {
        let isShort = self.head.take(line)
        // Chunks have a length each, and that of the whole says nothing (RFC 9112, 6.3).
        if isShort, !self.head.isComplete || !self.head.isLengthInvalid || self.head.isChunked { return true }
        let fault =
            isShort
            ? "the Content-Length of the response is not the one length of a body"
            : "the head of the response, or its trailer, is longer than \(ResponseHead.limit) bytes"
        self.failure = Failure(.badResponse, fault)
        return false
    }

    private var isWithinHead: Bool { self.head.status != nil && !self.head.isComplete }

    var isSuccess: Bool { (200..<300).contains(self.head.status ?? 0) }

    // MARK: Its end

    func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard now >= self.watch.nextLook else { return false }
        var moved = self.attempts > 0 ? self.easy.moved : nil
        // Everything has arrived: how long the server may work at its answer, the time-out of the whole says.
        if let now = moved, !self.head.isComplete, now.unsent == 0, now.uploaded >= self.bodySize { moved = nil }
        return self.watch.isStalled(moved, at: now)
    }

    /// Whether the server sends ever more of what is around the chunks of the body.
    func hasEndlessFraming() -> Bool {
        guard self.head.isComplete, self.head.isChunked else { return false }
        let counted = self.framing.counts
        let isExcessive = self.framing.isExcessive(at: self.easy.moved.received)
        if self.framing.counts != counted { self.easy.tellWhatComes(self.framing.counts) }
        return isExcessive
    }

    func came(_ count: Int) { self.framing.came(count) }

    private var bodySize: Int64 {
        switch self.job.request.body {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file: Int64(self.source?.size ?? 0)
        }
    }

    /// Whether the server refuses to be asked first (417) and ends the connection, for which libcurl gives up: nothing of the
    /// body was sent.
    var refusesToBeAsked: Bool {
        // What libcurl asks for by itself: bodies of more than 1 MiB.
        self.mayHaveAsked && self.head.status == 417 && self.bodySize > 1 << 20 && self.easy.moved.uploaded == 0
    }

    private var progress: TransportError.Progress {
        if self.refusesToBeAsked { return .notSent }
        // After 417 libcurl sends without asking first; that it could not is no answer.
        if let status = self.head.status, status != 417 { return .answered(status: status) }
        let isSent = self.attempts > 0 && self.easy.sentHeadSize > self.sentBefore
        return isSent || self.anEarlierAttemptWasSent ? .mayHaveBeenReceived : .notSent
    }

    /// What came of it, to be called before the handle leaves libcurl; without a code it is ended by us.
    func result(code: UInt32?) -> Result<TransportResponse, TransportError> {
        // The caller that is told of the end must not find the file of a response that failed.
        defer {
            self.source = nil
            self.destination = nil
        }
        // What is cut ends because we say so.
        let code = self.isCut ? nil : code
        let ended = code.flatMap {
            self.easy.failure(code: $0, isConnected: self.attempts > 0, isHeadBegun: self.isWithinHead)
        }
        let failure = self.failure ?? ended
        do throws(Failure) {
            if let failure { throw failure }
            if self.refusesToBeAsked {
                throw Failure(.connectionLost, "the server refuses to be asked first, and is not asked again")
            }
            guard let status = self.head.status, self.head.isComplete else {
                throw Failure(.connectionLost, "the connection ended within the head of the response")
            }
            if self.isSuccess { try self.destination?.keep() }
            return .success(
                TransportResponse(status: status, headers: self.head.headers, body: self.body, isCut: self.isCut)
            )
        } catch {
            let message = "\(self.job.request.method) \(self.job.request.place): \(error.message)"
            var failure = TransportError(error.reason, progress: self.progress, message: message)
            failure.certificateFault = error.certificateFault
            return .failure(failure)
        }
    }
}
