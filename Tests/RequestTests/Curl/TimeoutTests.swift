// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// What happens when nothing happens.
@Suite struct TimeoutTests {
    private static let short: Duration = .milliseconds(300)
    /// libcurl rounds a time that spans a full second of its clock up to the next millisecond (`Curl_timediff`).
    private static let atLeast = short - .milliseconds(1)
    private let transport = CurlTransport(proxy: "")

    private func request(
        _ url: String,
        connect: Duration? = nil,
        total: Duration? = nil,
        stall: Duration? = nil
    )
        -> TransportRequest
    {
        let timeouts = TransportRequest.Timeouts(
            connect: connect ?? .seconds(20),
            total: total ?? .seconds(60),
            stall: stall ?? .seconds(40)
        )
        return TransportRequest(method: "POST", url: url, body: .bytes([1]), timeouts: timeouts)
    }

    private func failure(_ request: TransportRequest) async -> (error: TransportError?, took: Duration) {
        let start = ContinuousClock.now
        return await withCheckedContinuation { continuation in
            _ = self.transport.start(request) { result in
                // Here, on the transport's own thread: those of the tests may be busy with other tests.
                let took = ContinuousClock.now - start
                guard case .failure(let error) = result else { return continuation.resume(returning: (nil, took)) }
                continuation.resume(returning: (error, took))
            }
        }
    }

    @Test func connectingEndsInTime() async throws {
        let full = try FullPort()
        let (error, took) = await self.failure(self.request("http://127.0.0.1:\(full.port)/", connect: Self.short))
        #expect(error?.reason == .connectTimedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == .notSent)
        #expect(took >= Self.atLeast && took < .seconds(10))
    }

    @Test func aHandshakeEndsInTime() async throws {
        // The server waits for the end of a head, which TLS does not have.
        let lab = try LabHost()
        let url = lab.url("/").replacing("http:", with: "https:")
        let (error, took) = await self.failure(self.request(url, connect: Self.short))
        #expect(error?.reason == .connectTimedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == .notSent)
        #expect(took >= Self.atLeast && took < .seconds(10))
    }

    @Test(arguments: [
        ("/stall-response", TransportError.Progress.mayHaveBeenReceived), ("/stall-headers", .answered(status: 200)),
        ("/stall-body", .answered(status: 200)),
    ])
    func theWholeEndsInTime(path: String, progress: TransportError.Progress) async throws {
        let lab = try LabHost()
        // As much as a busy machine needs to get that far.
        let total: Duration = .seconds(5)
        let (error, took) = await self.failure(self.request(lab.url(path), total: total))
        #expect(error?.reason == .timedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == progress)
        #expect(took >= total - .milliseconds(1) && took < .seconds(60))
    }

    @Test func aStallEndsInTime() async throws {
        let lab = try LabHost()
        let (error, took) = await self.failure(self.request(lab.url("/stall-body"), stall: Self.short))
        #expect(error?.reason == .timedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == .answered(status: 200))
        #expect(error?.message.contains("stall") == true)
        #expect(took >= Self.atLeast && took < .seconds(10))
    }

    @Test func howLongAServerWorksAtItsAnswerIsNoStall() async throws {
        let lab = try LabHost()
        var request = self.request(lab.url("/slow?ms=2000"), stall: Self.short)
        #expect(await self.failure(request).error == nil)
        // To send this much takes a busy machine longer.
        request.url = lab.url("/slow?ms=5000")
        request.timeouts.stall = .seconds(3)
        request.body = .bytes([UInt8](repeating: 1, count: 3_000_000))
        let (error, took) = await self.failure(request)
        #expect(error == nil, "\(error?.message ?? "")")
        #expect(took >= .seconds(5))
    }

    @Test func aServerThatReadsNoFurtherIsAStall() async throws {
        let lab = try LabHost()
        var request = self.request(lab.url("/stall-reading?after=100000"), stall: Self.short)
        request.body = .bytes([UInt8](repeating: 1, count: 30_000_000))
        let (error, took) = await self.failure(request)
        #expect(error?.reason == .timedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == .mayHaveBeenReceived)
        #expect(took < .seconds(20))
    }

    @Test func whatHardlyMovesIsAStall() async throws {
        let lab = try LabHost()
        let (error, took) = await self.failure(self.request(lab.url("/drip?n=10000&ms=500"), stall: .seconds(2)))
        #expect(error?.reason == .timedOut, "\(error?.message ?? "no error")")
        #expect(error?.progress == .answered(status: 200))
        #expect(error?.message.contains("stall") == true)
        #expect(took < .seconds(20))
    }

    /// Nothing of the body ever comes, and no time-out ends what moves fast.
    @Test func endlessExtensionsOfAChunkEndAtOnce() async throws {
        let lab = try LabHost()
        let (error, took) = await self.failure(self.request(lab.url("/endless-chunk-extension")))
        #expect(error?.reason == .badResponse, "\(error?.message ?? "no error")")
        #expect(error?.progress == .answered(status: 200))
        #expect(error?.message.contains("around a chunk") == true)
        #expect(took < .seconds(20))
    }

    @Test func manySmallChunksAreABody() async throws {
        let lab = try LabHost()
        let (error, _) = await self.failure(self.request(lab.url("/small-chunks?n=1000000")))
        #expect(error == nil, "\(error?.message ?? "")")
    }

    @Test func whatMovesSlowlyIsNoStall() async throws {
        let lab = try LabHost()
        var request = self.request(lab.url("/drip?n=20&ms=500"), stall: .seconds(5))
        request.timeouts.minimumRate = 1
        let (error, took) = await self.failure(request)
        #expect(error == nil)
        #expect(took >= .seconds(5))
    }
}
