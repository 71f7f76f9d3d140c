// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import NetPathTestKit
import Testing

@Suite struct SendingTests {
    private let transport = ScriptedTransport()
    private let request = TransportRequest(url: "http://a/")

    private func send(_ request: TransportRequest) async -> Result<TransportResponse, TransportError> {
        do throws(TransportError) {
            return .success(try await self.transport.send(request))
        } catch {
            return .failure(error)
        }
    }

    @Test func answersComeInOrder() async {
        self.transport.answer(.status(500), .failure(.refused, .notSent))
        self.transport.answer(.status(201), to: "http://b/")
        #expect(await self.send(TransportRequest(url: "http://b/")) == .success(TransportResponse(status: 201)))
        #expect(await self.send(self.request) == .success(TransportResponse(status: 500)))
        guard case .failure(let error) = await self.send(self.request) else {
            Issue.record("no error")
            return
        }
        #expect(error.reason == .refused)
        #expect(await self.send(self.request) == .success(TransportResponse(status: 200)))
        #expect(self.transport.requests.map(\.url) == ["http://b/", "http://a/", "http://a/", "http://a/"])
    }

    @Test func aHeldRequestEndsWhenItIsReleased() async throws {
        self.transport.answer(.held(.mayHaveBeenReceived))
        async let result = self.send(self.request)
        try await self.transport.waitForHeld()
        #expect(!self.transport.release(to: "http://b/"))
        #expect(self.transport.release(.status(204)))
        #expect(await result == .success(TransportResponse(status: 204)))
        #expect(!self.transport.release())
    }

    @Test func cancellingTheTaskCancelsTheRequest() async throws {
        self.transport.answer(.held(.mayHaveBeenReceived))
        let task = Task { await self.send(self.request) }
        try await self.transport.waitForHeld()
        task.cancel()
        guard case .failure(let error) = await task.value else {
            Issue.record("no error")
            return
        }
        #expect(error.reason == .cancelled)
        #expect(error.progress == .mayHaveBeenReceived)
        #expect(self.transport.cancelled == 1)
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async {
        let error = await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await self.send(self.request)
        }.value
        guard case .failure(let error) = error else {
            Issue.record("no error")
            return
        }
        #expect(error.reason == .cancelled)
        #expect(error.progress == .notSent)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func everyCancellationEndsTheRequestOnce() async {
        for _ in 0..<2000 {
            self.transport.answer(.held(.notSent))
            let task = Task { await self.send(self.request) }
            async let released = Task { self.transport.release() }.value
            task.cancel()
            // A continuation that is resumed twice traps, one that is not leaves this here for ever.
            _ = await released
            self.transport.release()
            _ = await task.value
        }
        #expect(self.transport.held.isEmpty)
    }
}
