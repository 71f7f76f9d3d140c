// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// How far a request came, for every place where it can fail: that decides whether it may be sent again.
@Suite struct ProgressTests {
    private let transport = CurlTransport(proxy: "")

    private func request(_ url: String, method: String = "POST", body: [UInt8] = [1, 2, 3]) -> TransportRequest {
        TransportRequest(method: method, url: url, body: .bytes(body), timeouts: .test)
    }

    @Test func aClosedPortRefuses() async throws {
        let closed = try ClosedPort()
        let error = await self.transport.failure(self.request("http://127.0.0.1:\(closed.port)/"))
        #expect(error?.reason == .refused)
        #expect(error?.progress == .notSent)
    }

    @Test func aNameThatDoesNotExistIsNotSent() async {
        let error = await self.transport.failure(self.request("http://does-not-exist.invalid/"))
        #expect(error?.reason == .nameNotResolved)
        #expect(error?.progress == .notSent)
    }

    @Test func anAddressWithoutARouteIsUnreachable() async {
        // 240.0.0.0/4 is reserved; Linux refuses to route to 255.255.255.255 over TCP.
        let error = await self.transport.failure(self.request("http://255.255.255.255/"))
        #expect(error?.reason == .unreachable)
        #expect(error?.progress == .notSent)
    }

    @Test func anInterfaceThatDoesNotExistIsNotSent() async throws {
        let lab = try LabHost()
        var request = self.request(lab.url("/ok"))
        request.interface = "nosuch0"
        let error = await self.transport.failure(request)
        #expect(error?.reason == .unreachable)
        #expect(error?.progress == .notSent)
        #expect(try await lab.events(on: "/ok").isEmpty)
    }

    @Test func anInvalidRequestIsNotSent() async {
        let error = await self.transport.failure(self.request("http:///"))
        #expect(error?.reason == .invalidRequest)
        #expect(error?.progress == .notSent)
    }

    @Test(arguments: [
        ("/close-before-response", TransportError.Reason.connectionLost), ("/reset", .connectionLost),
        ("/close-mid-status", .connectionLost), ("/not-http", .badResponse),
    ])
    func withoutAStatusItMayHaveBeenReceived(path: String, reason: TransportError.Reason) async throws {
        let lab = try LabHost()
        let error = await self.transport.failure(self.request(lab.url(path)))
        #expect(error?.reason == reason, "\(error?.message ?? "no error")")
        #expect(error?.progress == .mayHaveBeenReceived)
        #expect(try await lab.events(on: path).count == 1, "nothing is repeated behind our back")
    }

    @Test(arguments: ["/close-during-body?after=1000000", "/reset-during-body?after=0"])
    func aBodyThatIsCutMayHaveBeenReceived(path: String) async throws {
        let lab = try LabHost()
        let body = [UInt8](repeating: 7, count: 30_000_000)
        let error = await self.transport.failure(self.request(lab.url(path), body: body))
        #expect(error?.reason == .connectionLost, "\(error?.message ?? "no error")")
        #expect(error?.progress == .mayHaveBeenReceived)
    }

    @Test(arguments: ["/close-mid-headers", "/close-mid-body", "/reset-mid-body"])
    func afterAStatusItWasAnswered(path: String) async throws {
        let lab = try LabHost()
        let error = await self.transport.failure(self.request(lab.url(path)))
        #expect(error?.reason == .connectionLost, "\(error?.message ?? "no error")")
        #expect(error?.progress == .answered(status: 200))
    }

    @Test(arguments: [("/bytes?n=5000", 4999), ("/bytes?n=5000000", 100)])
    func aResponseOverTheLimitIsCutThere(path: String, limit: Int) async throws {
        let lab = try LabHost()
        var request = self.request(lab.url(path), method: "GET")
        request.responseLimit = limit
        let cut = try await self.transport.send(request)
        #expect(cut.status == 200)
        #expect(cut.isCut && cut.body.count == limit)
        request.responseLimit = 5_000_000
        let whole = try await self.transport.send(request)
        #expect(!whole.isCut && whole.body.starts(with: cut.body) && whole.body.count > limit)
    }

    @Test func aLengthThatNoBodyHasIsNoWholeAnswer() async throws {
        let lab = try LabHost()
        let error = await self.transport.failure(self.request(lab.url("/impossible-length")))
        #expect(error?.reason == .badResponse, "\(error?.message ?? "no error")")
        #expect(error?.progress == .answered(status: 200))
    }

    @Test func aHeadOverTheLimitWasAnswered() async throws {
        let lab = try LabHost()
        // libcurl itself takes no line of more than 100 KiB.
        let error = await self.transport.failure(self.request(lab.url("/long-header?n=200000")))
        #expect(error?.progress == .answered(status: 200), "\(error?.message ?? "no error")")
        #expect(error?.reason == .badResponse, "it would be so again")
        #expect(await self.transport.failure(self.request(lab.url("/long-header?n=20000"))) == nil)
    }

    @Test(arguments: ["POST", "PATCH"])
    func aConnectionThatDiesAfterReuseRepeatsNothingThatMayHaveActed(method: String) async throws {
        let lab = try LabHost()
        // One connection only: the second request goes out on the one that the server is about to drop.
        let results = await self.transport.sendInTurn(
            ["/drop-next", "/ok"].map { self.request(lab.url($0), method: method) }
        )
        let error: TransportError? = if case .failure(let error) = results[1] { error } else { nil }
        #expect(error?.reason == .connectionLost, "\(error?.message ?? "no error")")
        #expect(error?.progress == .mayHaveBeenReceived)
        #expect(try await lab.events(on: "/ok").count == 1)
    }

    @Test(arguments: ["GET", "PUT", "DELETE"])
    func anIdempotentRequestIsRepeatedOnAnotherConnection(method: String) async throws {
        let lab = try LabHost()
        let results = await self.transport.sendInTurn(
            ["/drop-next", "/ok"].map { self.request(lab.url($0), method: method) }
        )
        #expect(try results[1].get().status == 200)
        #expect(try await lab.events(on: "/ok").count == 2)
    }
}
