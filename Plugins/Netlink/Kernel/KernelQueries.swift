// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink
import NetPath

/// Questions to the kernel and their answers, over a socket of their own.
///
/// A second socket, so that answers and events never mix: joining groups first and then asking here leaves no gap.
final class KernelQueries {
    private let `protocol`: Int32
    private var socket: NetlinkSocket

    /// Opens the socket.
    ///
    /// - Parameters:
    ///   - protocol: The family of netlink messages (`netlink(7)`).
    ///   - bufferSize: The room for datagrams to begin with.
    /// - Throws: ``NetlinkError`` when the system refuses.
    init(protocol: Int32 = NETLINK_ROUTE, bufferSize: Int = 65_536) throws(NetlinkError) {
        self.protocol = `protocol`
        self.socket = try Self.open(`protocol`, bufferSize: bufferSize)
    }

    private static func open(_ protocol: Int32, bufferSize: Int) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket(protocol: `protocol`, bufferSize: bufferSize)
        socket.requestStrictChecking()
        // The kernel answers at once; the bound is for sandboxes that swallow requests.
        socket.setReceiveTimeout(seconds: 1)
        // libnl asks for 32 KiB. The kernel takes room only for what waits.
        socket.setReceiveBuffer(bytes: 1 << 20)
        return socket
    }

    /// Leaves an unfinished dump behind: the kernel would refuse the next one on the same socket (EBUSY).
    ///
    /// What was learnt about the size of datagrams is kept, or the next attempt would fail as this one did.
    private func startOver() {
        if let fresh = try? Self.open(self.protocol, bufferSize: self.socket.bufferSize) { self.socket = fresh }
    }

    /// How a dump ended.
    enum DumpResult: Hashable {
        case complete
        /// The tables changed while they were read (NLM_F_DUMP_INTR): objects may be missing.
        case interrupted
        case failed(KernelError)
    }

    /// Asks a question that has many answers.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - isEnough: Whether the rest does not matter any more, asked now and then.
    ///   - body: What to do with each answer.
    /// - Returns: How the dump ended; one that was left is complete.
    func dump(
        _ request: NetlinkRequest,
        until isEnough: () -> Bool = { false },
        _ body: (NetlinkMessage) -> Void
    ) -> DumpResult {
        guard let sequence = try? self.socket.send([request]) else { return .failed(.broken) }
        var result: DumpResult?
        var isInterrupted = false
        while result == nil {
            // One by one: the larger they may be, the fewer there are, and the kernel takes its lock for each.
            let reception = self.socket.receive(upTo: 1) { message in
                guard message.sequence == sequence else { return }
                if message.flags & NLM_F_DUMP_INTR != 0 { isInterrupted = true }
                if let error = message.error {
                    result = error == 0 ? .complete : .failed(KernelError(number: error))
                } else {
                    body(message)
                }
            }
            switch reception {
            case .messages where result == nil && isEnough(): result = .complete
            case .messages: continue
            case .empty: result = .failed(.timedOut)
            case .overrun: result = .interrupted
            case .failed: result = .failed(.broken)
            }
            self.startOver()
        }
        return result == .complete && isInterrupted ? .interrupted : result ?? .failed(.broken)
    }

    /// How often a dump is begun that others interrupt, before its result is not to be had for now.
    static let dumpAttempts = 3

    /// Asks a question that has many answers, again and again while they change.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - isEnough: Whether the rest does not matter any more, asked now and then.
    ///   - body: What to do with each answer; the same one can come several times.
    /// - Returns: How the last dump ended; what was found is true even if it was interrupted, what was not may exist.
    func dumpRepeatedly(
        _ request: NetlinkRequest,
        until isEnough: () -> Bool = { false },
        _ body: (NetlinkMessage) -> Void
    ) -> DumpResult {
        var result = DumpResult.interrupted
        for _ in 0..<Self.dumpAttempts where result == .interrupted && !isEnough() {
            result = self.dump(request, until: isEnough, body)
        }
        return result
    }

    /// Asks a question that has many answers, until they do not change meanwhile.
    ///
    /// - Returns: What the body made of all answers, or the system's error number.
    func collect<Value>(
        _ request: NetlinkRequest,
        into empty: Value,
        _ body: (inout Value, NetlinkMessage) -> Void
    ) -> Result<Value, KernelError> {
        for _ in 0..<Self.dumpAttempts {
            var value = empty
            switch self.dump(request, { body(&value, $0) }) {
            case .complete: return .success(value)
            case .interrupted: continue
            case .failed(let error): return .failure(error)
            }
        }
        return .failure(.badAnswer)
    }

    /// Asks a question that has one answer.
    ///
    /// - Returns: What the body made of the answer, or the system's error number.
    func ask<Answer>(_ request: NetlinkRequest, _ body: (NetlinkMessage) -> Answer?) -> Result<Answer, KernelError> {
        self.ask([request], body)[0]
    }

    /// How many questions go into one datagram: their answers have to fit into the socket's receive buffer.
    private static let batchLimit = 32

    /// Asks questions that have one answer each, many with one system call.
    ///
    /// - Returns: For each question what the body made of the answer, or the system's error number.
    func ask<Answer>(
        _ requests: [NetlinkRequest],
        _ body: (NetlinkMessage) -> Answer?
    ) -> [Result<Answer, KernelError>] {
        // The ordinary case, without copying.
        if requests.count <= Self.batchLimit { return requests.isEmpty ? [] : self.askTogether(requests, body) }
        return stride(from: 0, to: requests.count, by: Self.batchLimit).flatMap { start in
            self.askTogether(Array(requests[start..<min(start + Self.batchLimit, requests.count)]), body)
        }
    }

    private func askTogether<Answer>(
        _ requests: [NetlinkRequest],
        _ body: (NetlinkMessage) -> Answer?,
        isRepeated: Bool = false
    ) -> [Result<Answer, KernelError>] {
        guard let first = try? self.socket.send(requests) else { return requests.map { _ in .failure(.broken) } }
        var results = [Result<Answer, KernelError>](repeating: .failure(.timedOut), count: requests.count)
        var missing = requests.count
        while missing > 0 {
            let reception = self.socket.receive { message in
                let position = Int(message.sequence &- first)
                guard position < results.count, case .failure(.timedOut) = results[position] else { return }
                missing -= 1
                if let error = message.error {
                    results[position] = .failure(error == 0 ? .badAnswer : KernelError(number: error))
                } else if let answer = body(message) {
                    results[position] = .success(answer)
                } else {
                    results[position] = .failure(.badAnswer)
                }
            }
            switch reception {
            case .messages: continue
            case .empty: return results
            case .overrun where !isRepeated:
                let lost = results.indices.filter { if case .failure(.timedOut) = results[$0] { true } else { false } }
                for (position, answer) in zip(lost, self.askAgain(lost.map { requests[$0] }, body)) {
                    results[position] = answer
                }
                return results
            case .overrun, .failed:
                return results.map { if case .failure(.timedOut) = $0 { .failure(.broken) } else { $0 } }
            }
        }
        return results
    }

    /// Asks what was asked before: an answer did not fit into this process's buffer and does now, or all of them did not fit into
    /// the socket's, and half of them may.
    private func askAgain<Answer>(
        _ requests: [NetlinkRequest],
        _ body: (NetlinkMessage) -> Answer?
    ) -> [Result<Answer, KernelError>] {
        // What is still queued is answered anew.
        self.startOver()
        guard requests.count > 1 else { return self.askTogether(requests, body, isRepeated: true) }
        let half = requests.count / 2
        return self.askTogether(Array(requests[..<half]), body) + self.askTogether(Array(requests[half...]), body)
    }
}
