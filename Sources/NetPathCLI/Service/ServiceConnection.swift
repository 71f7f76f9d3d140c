// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// One client of the socket, as a value: what came from it, what waits for it, and by when it has to have done something.
///
/// A client is not read from while something waits for it: what it may make the service keep is one question and one
/// answer, or one page of it.
struct ServiceConnection: Sendable {
    private enum Work: Sendable {
        case none
        /// A page is being made.
        case making
        /// There is more when everything before is written.
        case rest(ServicePages)
    }

    let peer: ServiceSocket.Peer
    /// Whether it gets every path, until it goes.
    private(set) var watches = false
    /// Whether it is to be closed.
    private(set) var isGone = false
    /// When it is closed unless it asks or reads before; nil while it waits for the service.
    private(set) var deadline: MonotonicTime?
    /// What waits to be written.
    private(set) var output: ArraySlice<UInt8> = []

    private let limits: ServiceLimits
    private var input: [UInt8] = []
    private var isHalfClosed = false
    private var work = Work.none
    private var shownSequence: UInt64 = 0

    init(_ peer: ServiceSocket.Peer, _ limits: ServiceLimits, now: MonotonicTime) {
        self.peer = peer
        self.limits = limits
        self.deadline = now + limits.idle
    }

    private var isFree: Bool {
        if case .none = self.work { self.output.isEmpty } else { false }
    }

    private var hasLine: Bool { self.input.contains(UInt8(ascii: "\n")) }

    /// Whether to read from it.
    var wantsInput: Bool { self.isFree && !self.isHalfClosed && !self.hasLine }

    /// Whether there is a question to answer now.
    var hasQuestion: Bool { self.isFree && self.hasLine && !self.isGone }

    // MARK: Questions

    /// Takes what was read; nothing at the end of what the client sends.
    mutating func receive(_ bytes: [UInt8]) {
        if bytes.isEmpty { self.isHalfClosed = true }
        self.input += bytes
        if self.input.prefix(self.limits.question + 1).count > self.limits.question,
            !self.input.prefix(self.limits.question + 1).contains(UInt8(ascii: "\n"))
        {
            // Nothing more is read, and what is left of it is answered as what is no question.
            (self.input, self.isHalfClosed) = ([UInt8(ascii: "\n")], true)
        }
        self.settle()
    }

    /// Takes the next question.
    mutating func takeQuestion() -> ServiceRequest? {
        guard self.hasQuestion, let end = self.input.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { self.input.removeSubrange(...end) }
        return ServiceRequest(self.input[..<end])
    }

    // MARK: Answers

    /// Has the newest path written, after which none with its number or a lower one is shown.
    mutating func send(path line: [UInt8], sequence: UInt64, watches: Bool, now: MonotonicTime) {
        self.watches = self.watches || watches
        self.shownSequence = max(self.shownSequence, sequence)
        self.send(line, now: now)
    }

    /// Has something written.
    mutating func send(_ bytes: [UInt8], now: MonotonicTime) {
        self.output += bytes
        self.deadline = now + self.limits.reading
        if self.output.isEmpty { self.finish(now: now) }
    }

    /// Has an answer written that is made page by page.
    mutating func send(_ pages: ServicePages) { self.work = .rest(pages) }

    /// Takes what has to be made now.
    mutating func takePages() -> ServicePages? {
        guard case .rest(let pages) = self.work, self.output.isEmpty, !self.isGone else { return nil }
        self.work = .making
        self.deadline = nil
        return pages
    }

    /// Takes a page that was made.
    mutating func take(page: [UInt8], rest: ServicePages?, now: MonotonicTime) {
        guard case .making = self.work else { return }
        self.work = rest.map { .rest($0) } ?? .none
        self.send(page, now: now)
    }

    /// Shows the newest path, where it is a newer one and nothing else waits.
    mutating func show(_ line: [UInt8], sequence: UInt64, now: MonotonicTime) {
        guard self.watches, self.isFree, sequence > self.shownSequence else { return }
        self.shownSequence = sequence
        self.send(line, now: now)
    }

    /// So many bytes of the output were written.
    mutating func wrote(_ count: Int, now: MonotonicTime) {
        self.output = self.output.dropFirst(count)
        if self.output.isEmpty { self.finish(now: now) }
    }

    private mutating func finish(now: MonotonicTime) {
        // Not a slice of what was written.
        self.output = []
        self.deadline = self.watches ? nil : now + self.limits.idle
        self.settle()
    }

    // MARK: The end

    /// The client has gone, or has to.
    mutating func end() {
        self.isGone = true
        self.output = []
    }

    /// Lets go of a client that took too long.
    mutating func expire(now: MonotonicTime) {
        if let deadline, deadline <= now { self.isGone = true }
    }

    /// One that closed its half reads what it asked for, and nothing else.
    private mutating func settle() {
        if self.isHalfClosed, self.isFree, !self.hasLine { self.isGone = true }
    }
}
