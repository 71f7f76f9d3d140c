// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSystem

/// Asks a running service over its socket.
struct ServiceClient {
    /// An answer is shorter than this.
    static let answerLimit = 64 << 20
    /// A path is shorter than this; a line that is longer is passed over.
    private static let lineLimit = 16 << 20

    private let socket: FileDescriptor

    /// Connects to the first service that runs; nil when none does, or all are too busy for that long.
    init?(_ places: [ServiceFolders], limit: Duration = .seconds(5)) {
        // Also of connect(2), which waits where the queue is full (unix(7)).
        var time = timeval()
        time.tv_sec = Int(limit.components.seconds)
        // Zero would be no limit.
        time.tv_usec = max(1, Int(limit.components.attoseconds / 1_000_000_000_000))
        for place in places {
            guard let socket = FileDescriptor(Glibc.socket(AF_UNIX, SocketType.blockingStream, 0)) else { return nil }
            _ = unsafe setsockopt(
                socket.number,
                SOL_SOCKET,
                SO_SNDTIMEO,
                &time,
                socklen_t(MemoryLayout<timeval>.size)
            )
            if unsafe UnixAddress(place.socket).with({ unsafe connect(socket.number, $0, $1) }) == 0 {
                self.socket = socket
                return
            }
        }
        return nil
    }

    /// The user that listens; nil where the kernel does not say.
    var user: UInt32? { PeerCredentials.user(of: self.socket) }

    /// Reads every path from now on, until the service goes.
    ///
    /// - Parameter body: Receives each line, its line feed included.
    func watch(_ body: ([UInt8]) -> Void) {
        guard self.send(.watch) else { return }
        var lines = LineBuffer(limit: Self.lineLimit)
        while true {
            guard let part = self.socket.read(limit: 1 << 16) else {
                if errno == EINTR { continue }
                return
            }
            if part.isEmpty { return }
            lines.append(part)
            while let line = lines.next() {
                guard case .whole(let bytes) = line else { continue }
                // A connection too many is told so, and closed.
                if Self.refusal(in: bytes) != nil { return }
                body(Array(bytes) + [UInt8(ascii: "\n")])
            }
        }
    }

    /// Asks, and reads the whole answer.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - limit: How long the answer may take; of a history, which a service sends bit by bit, each part of it.
    ///   - size: How many bytes are read.
    /// - Returns: The answer.
    /// - Throws: `SystemError` when the service does not answer, ``ToolFailure`` with its words when it refuses to.
    func ask(
        _ request: ServiceRequest,
        limit: Duration = .seconds(5),
        size: Int = Self.answerLimit
    ) throws -> [UInt8] {
        var deadline: MonotonicTime?
        if case .history = request {} else { deadline = .now() + limit }
        let isWhole = self.send(request)
        // A service that refuses the connection may have closed it already; its reason can still be read.
        let isSent = isWhole && shutdown(self.socket.number, Int32(SHUT_WR)) == 0
        let failure = SystemError.last("cannot ask the service")
        let answer = try self.readToEnd(limit: limit, deadline: deadline, size: size)
        if let sentence = Self.refusal(in: answer[...]) {
            throw ToolFailure(.failure, "the service refuses to answer: \(sentence.safe)")
        }
        guard isSent else { throw failure }
        return answer
    }

    /// Sends a question; returns whether it went out whole.
    private func send(_ request: ServiceRequest) -> Bool {
        let line = Array((request.line + "\n").utf8)
        return self.socket.send(line[...]) == line.count
    }

    /// What a service says in place of an answer; nil where it answers.
    private static func refusal(in answer: ArraySlice<UInt8>) -> String? {
        guard answer.starts(with: Array(#"{"error""#.utf8)) else { return nil }
        return (try? JSONReader.read(answer))?["error"]?.text
    }

    private func readToEnd(limit: Duration, deadline: MonotonicTime?, size: Int) throws(SystemError) -> [UInt8] {
        var answer: [UInt8] = []
        while true {
            let left = deadline.map { $0 - MonotonicTime.now() } ?? limit
            guard left > .zero, FileDescriptor.poll(readable: [self.socket.number], timeout: left)[0] else {
                throw SystemError(action: "the service does not answer", errno: ETIMEDOUT)
            }
            guard let part = self.socket.read(limit: 1 << 16) else {
                if errno == EINTR { continue }
                // A connection that was refused with a question in it is reset, once the reason was read.
                if errno == ECONNRESET, !answer.isEmpty { return answer }
                throw .last("the service does not answer")
            }
            if part.isEmpty { return answer }
            answer += part
            guard answer.count < size else {
                throw SystemError(action: "the answer of the service is longer than netpath reads", errno: EFBIG)
            }
        }
    }
}
