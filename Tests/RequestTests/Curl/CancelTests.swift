// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// Cancelling at any instant.
@Suite struct CancelTests {
    private let transport = CurlTransport(proxy: "")

    /// The error of a request that is cancelled as soon as something has happened.
    private func cancel(
        _ request: TransportRequest,
        after event: () async throws -> Void
    ) async throws -> TransportError? {
        let transport = self.transport
        let task = Task { await transport.failure(request) }
        try await event()
        task.cancel()
        return await task.value
    }

    @Test func whileConnectingItIsNotSent() async throws {
        let full = try FullPort()
        let request = TransportRequest(method: "POST", url: "http://127.0.0.1:\(full.port)/", timeouts: .test)
        // There is no event to wait for; whenever the cancellation comes, nothing was sent.
        let error = try await self.cancel(request) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(error?.reason == .cancelled)
        #expect(error?.progress == .notSent)
    }

    @Test func whileTheServerThinksItMayHaveBeenReceived() async throws {
        let lab = try LabHost()
        let request = TransportRequest(method: "POST", url: lab.url("/stall-response"), timeouts: .test)
        let error = try await self.cancel(request) { _ = try await lab.waitForEvents(on: "/stall-response") }
        #expect(error?.reason == .cancelled)
        #expect(error?.progress == .mayHaveBeenReceived)
        let events = try await lab.waitForEvents(2, on: "/stall-response")
        #expect(events.last?["event"] == "left", "the connection must not linger")
    }

    /// When an address is removed, which is what a queue asks for then.
    @Test func onlyWhatComesFromAnAddressEnds() async throws {
        let lab = try LabHost()
        let transport = self.transport
        let request = TransportRequest(method: "POST", url: lab.url("/stall-response"), timeouts: .test)
        let ends = AwaitableState<[TransportError?]>([])
        let task = transport.start(request) { result in
            ends.update { if case .failure(let error) = result { $0.append(error) } else { $0.append(nil) } }
        }
        _ = try await lab.waitForEvents(on: "/stall-response")
        #expect(transport.cancelRequests(from: ["127.0.0.2", "::1"]))
        // What is done in turn has been done when something else has ended.
        _ = try await transport.send(TransportRequest(url: lab.url("/ok"), timeouts: .test))
        #expect(ends.value.isEmpty)
        #expect(transport.cancelRequests(from: ["127.0.0.1"]))
        try await ends.wait { !$0.isEmpty }
        #expect(ends.value.map { $0?.reason } == [.cancelled])
        withExtendedLifetime(task) {}
    }

    @Test func duringABodyFromAFileItMayHaveBeenReceived() async throws {
        let lab = try LabHost()
        let directory = try TemporaryDirectory()
        try directory.write("body", String(repeating: "x", count: 30_000_000))
        let body = TransportRequest.Body.file(directory["body"])
        let request = TransportRequest(
            method: "PUT",
            url: lab.url("/stall-reading?after=1000"),
            body: body,
            timeouts: .test
        )
        let error = try await self.cancel(request) { _ = try await lab.waitForEvents(on: "/stall-reading") }
        #expect(error?.reason == .cancelled)
        #expect(error?.progress == .mayHaveBeenReceived)
    }

    @Test func afterItsEndNothingHappens() async throws {
        let lab = try LabHost()
        let ends = AwaitableState(0)
        let task = self.transport.start(TransportRequest(url: lab.url("/ok"), timeouts: .test)) { _ in
            ends.update { $0 += 1 }
        }
        try await ends.wait { $0 == 1 }
        for _ in 0..<100 { task.cancel() }
        _ = try await self.transport.send(TransportRequest(url: lab.url("/ok"), timeouts: .test))
        #expect(ends.value == 1)
    }

    @Test func cancellingTwiceAtOnceEndsItOnce() async throws {
        let full = try FullPort()
        let ends = AwaitableState(0)
        for _ in 0..<100 {
            let request = TransportRequest(url: "http://127.0.0.1:\(full.port)/", timeouts: .test)
            let task = self.transport.start(request) { _ in ends.update { $0 += 1 } }
            async let first: Void = Task { task.cancel() }.value
            task.cancel()
            await first
        }
        try await ends.wait { $0 == 100 }
    }

    /// What crashed URLSession, or made it hang, every time.
    @Test(.timeLimit(.minutes(5))) func cancellingWhatFailsIsClean() async throws {
        let closed = try ClosedPort()
        let url = "http://127.0.0.1:\(closed.port)/"
        let transport = self.transport
        var ends = 0
        for _ in 0..<200 {
            ends += await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask { await transport.failure(TransportRequest(url: url, timeouts: .test)) != nil }
                }
                try? await Task.sleep(for: .microseconds(Int.random(in: 50...3000)))
                group.cancelAll()
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
        }
        #expect(ends == 20_000)
    }

    @Test(.timeLimit(.minutes(5))) func cancellingWhatWouldSucceedIsClean() async throws {
        let lab = try LabHost()
        let transport = self.transport
        let urls = ["/ok", "/reset", "/close-mid-body", "/slow?ms=2", "/stall-response"].map(lab.url)
        for round in 0..<20 {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    let request = TransportRequest(method: "POST", url: urls[number % urls.count], timeouts: .test)
                    group.addTask { _ = await transport.failure(request) }
                }
                try? await Task.sleep(for: .microseconds(Int.random(in: 50...5000) * (round % 4 + 1)))
                group.cancelAll()
            }
        }
        #expect(try await transport.send(TransportRequest(url: lab.url("/ok"), timeouts: .test)).status == 200)
    }

    @Test func aTransportThatIsGoneStillEndsItsRequests() async throws {
        let lab = try LabHost()
        let result = AwaitableState<Int?>(nil)
        var transport: CurlTransport? = CurlTransport(proxy: "")
        _ = transport?.start(TransportRequest(url: lab.url("/hold?id=1"), timeouts: .test)) { ended in
            result.update { $0 = (try? ended.get())?.status ?? 0 }
        }
        transport = nil
        _ = try await lab.waitForEvents(on: "/hold")
        _ = try await self.transport.send(TransportRequest(url: lab.url("/release?id=1"), timeouts: .test))
        try await result.wait { $0 != nil }
        #expect(result.value == 200)
    }
}
