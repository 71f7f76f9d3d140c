// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCurl
import NetPathHTTP
import NetPathTestKit

/// The server of the lab on loopback, and what it wrote.
final class LabHost: Sendable {
    /// Where it listens.
    let port: Int
    private let process: Process
    private let lines: AwaitableState<[JSONValue]>

    init() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try MonitorProcess.builtProduct("LabPeers"))
        process.arguments = ["serve"]
        let output = Pipe()
        process.standardOutput = output
        let ready = DispatchSemaphore(value: 0)
        let lines = AwaitableState<[JSONValue]>([])
        Thread {
            var partial = Data()
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                partial += data
                while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
                    let text = String(decoding: partial[..<end], as: UTF8.self)
                    if let line = try? JSONValue(json: text) { lines.update { $0.append(line) } }
                    partial = Data(partial[(end + 1)...])
                    ready.signal()
                }
            }
            ready.signal()
        }.start()
        try process.run()
        ready.wait()
        guard let port = lines.update({ $0.isEmpty ? nil : $0.removeFirst()["port"]?.number }) else {
            throw LabError.invalidRequest("the server does not listen")
        }
        self.process = process
        self.port = Int(port)
        self.lines = lines
    }

    deinit {
        kill(self.process.processIdentifier, SIGKILL)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    /// What it received on a path so far, whole or in part.
    func events(on path: String) async throws -> [JSONValue] {
        // What it writes about a request of our own comes after everything else.
        let mark = "/mark-\(UInt64.random(in: 0...(.max)))"
        _ = try await CurlTransport.shared.send(TransportRequest(url: self.url(mark), timeouts: .test))
        try await self.lines.wait { $0.contains { $0["path"]?.string == mark } }
        return self.lines.value.filter { $0["path"]?.string == path }
    }

    /// Waits for that.
    func waitForEvents(_ count: Int = 1, on path: String) async throws -> [JSONValue] {
        try await self.lines.wait { $0.count { $0["path"]?.string == path } >= count }
        return self.lines.value.filter { $0["path"]?.string == path }
    }
}

extension HTTPTransport {
    /// The error of a request, or nil.
    func failure(_ request: TransportRequest) async -> TransportError? {
        do throws(TransportError) {
            _ = try await self.send(request)
            return nil
        } catch {
            return error
        }
    }

    /// Sends requests one after another, each from where the one before it ends: beside busy processes a task may go on only
    /// after libcurl has closed the connection, which it keeps for 118 s.
    func sendInTurn(_ requests: [TransportRequest]) async -> [Result<TransportResponse, TransportError>] {
        await withCheckedContinuation { continuation in
            self.send(requests[...], after: []) { continuation.resume(returning: $0) }
        }
    }

    private func send(
        _ requests: ArraySlice<TransportRequest>,
        after results: [Result<TransportResponse, TransportError>],
        reply: @escaping @Sendable ([Result<TransportResponse, TransportError>]) -> Void
    ) {
        guard let next = requests.first else { return reply(results) }
        _ = self.start(next) { self.send(requests.dropFirst(), after: results + [$0], reply: reply) }
    }
}

extension TransportRequest.Timeouts {
    /// Long enough for a busy machine, on which the tasks of other tests may hold up one for minutes, and not for ever.
    static var test: Self { Self(connect: .seconds(20), total: .seconds(900), stall: .seconds(600)) }
}
