// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// What arrives, on both sides, when nothing fails.
@Suite struct ExchangeTests {
    private let transport = CurlTransport(proxy: "")

    @Test func aSmallRequestArrivesAsItIs() async throws {
        let lab = try LabHost()
        let headers: HeaderFields = ["X-One": "1", "X-Empty": "", "X-Blank": "  ", "Idempotency-Key": "\"k\""]
        let request = TransportRequest(
            method: "POST",
            url: lab.url("/echo?a=b"),
            headers: headers,
            body: .bytes(Array("hällo".utf8)),
            timeouts: .test
        )
        let response = try await self.transport.send(request)
        #expect(response.status == 200)
        #expect(response.body == Array("hällo".utf8))
        #expect(response.headers["content-LENGTH"] == "6")
        let event = try #require(await lab.events(on: "/echo").first)
        #expect(event["method"] == "POST")
        #expect(event["body"] == "hällo")
        #expect(event["key"] == "k")
        #expect(event["headers"]?["x-one"] == "1")
        #expect(event["headers"]?["x-empty"] == "")
        #expect(event["headers"]?["x-blank"] == "")
        #expect(event["headers"]?["user-agent"]?.string?.hasPrefix("netpath/") == true)
        #expect(event["headers"]?["content-type"] == nil, "not a form unless it is said")
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT"])
    func everyMethodWorksWithoutABody(method: String) async throws {
        let lab = try LabHost()
        let request = TransportRequest(method: method, url: lab.url("/status/404"), timeouts: .test)
        let response = try await self.transport.send(request)
        #expect(response.status == 404)
        #expect(response.body == (method == "HEAD" ? [] : Array("status 404\n".utf8)))
        let event = try #require(await lab.events(on: "/status/404").first)
        #expect(event["method"]?.string == method)
        let announces = ["POST", "PUT", "PATCH"].contains(method)
        #expect(event["headers"]?["content-length"]?.string == (announces ? "0" : nil))
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"], [0, 1, 70_000, 3_000_000])
    func everyMethodWorksWithABody(method: String, size: Int) async throws {
        let lab = try LabHost()
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let request = TransportRequest(method: method, url: lab.url("/ok"), body: .bytes(body), timeouts: .test)
        #expect(try await self.transport.send(request).status == 200)
        #expect(try await lab.events(on: "/ok").first?["length"]?.number == Double(size))
    }

    @Test func statusesAndFieldsAreHandedOver() async throws {
        let lab = try LabHost()
        let request = TransportRequest(url: lab.url("/status/503?retry-after=120"), timeouts: .test)
        let response = try await self.transport.send(request)
        #expect(response.status == 503)
        #expect(response.headers["Retry-After"] == "120")
    }

    /// A request with a body for which libcurl asks first.
    private func long(_ url: String) -> TransportRequest {
        let body = [UInt8](repeating: 1, count: 3_000_000)
        return TransportRequest(method: "POST", url: url, body: .bytes(body), timeouts: .test)
    }

    /// Two heads come for one request.
    @Test func aRefusedExpectationIsNoAnswer() async throws {
        let lab = try LabHost()
        let request = self.long(lab.url("/refuse-expectation"))
        #expect(try await self.transport.send(request).status == 200)
        #expect(try await lab.events(on: "/refuse-expectation").count == 1)
    }

    /// For a server that ends the connection, too, libcurl takes the refusal for the answer.
    @Test func aServerThatRefusesToBeAskedAndClosesIsNotAskedAgain() async throws {
        let lab = try LabHost()
        let request = self.long(lab.url("/refuse-expectation?and=close"))
        let error = try #require(await self.transport.failure(request))
        #expect(error.progress == .notSent, "\(error)")
        #expect(try await self.transport.send(request).status == 200)
        #expect(try await lab.events(on: "/refuse-expectation").count == 1)
    }

    /// Nor is it one where the server is gone when it is asked again.
    @Test func aRefusedExpectationIsNoAnswerOfAServerThatEnds() async throws {
        let lab = try LabHost()
        let request = self.long(lab.url("/refuse-expectation?and=end"))
        let error = try #require(await self.transport.failure(request))
        #expect([.notSent, .mayHaveBeenReceived].contains(error.progress), "\(error)")
    }

    @Test func connectionsAreUsedAgain() async throws {
        let lab = try LabHost()
        let request = TransportRequest(url: lab.url("/ok"), timeouts: .test)
        _ = await self.transport.sendInTurn(Array(repeating: request, count: 5))
        #expect(try await Set(lab.events(on: "/ok").map { $0["connection"]?.number }).count == 1)
    }

    @Test func manyAtOnceAllEnd() async throws {
        let lab = try LabHost()
        let url = lab.url("/ok")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask { try await self.transport.send(TransportRequest(url: url, timeouts: .test)).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 200))
    }
}
