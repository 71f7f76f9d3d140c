// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import NetPathHTTPProbe

/// HTTPS by itself, and the network's own word (RFC 8908), against a real server.
@Suite(.enabled(if: TLSServer.isAvailableOrRequired, "there is no openssl"), .timeLimit(.minutes(5)))
struct HTTPSProbeTests {
    private static let empty = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

    private func ask(_ server: TLSServer, trusting: Bool = true) async throws -> Evidence {
        let transport = CurlTransport(certificateAuthority: trusting ? server.authority : nil, proxy: "")
        let url = "https://127.0.0.1:\(server.port)/204"
        return try await HTTPProbeTableTests.evidence([HTTPCheck(url: url)], transport: transport)
    }

    @Test func aGoodCertificate() async throws {
        let evidence = try await self.ask(TLSServer(answers: ["204": Self.empty]))
        #expect(evidence.probes?.outcomes.map(\.result) == [.expected], "\(evidence)")
        #expect(evidence.limitations == [])
    }

    @Test func aCertificateOfAnotherAuthority() async throws {
        let evidence = try await self.ask(TLSServer(answers: ["204": Self.empty]), trusting: false)
        let outcome = try #require(evidence.probes?.outcomes.first)
        #expect(outcome.result == .impersonated)
        #expect(outcome.detail == "no authority that this machine trusts has signed the certificate")
        #expect(evidence.probes?.internetAlone == .unreachable, "as NetworkManager, for which it is LIMITED")
    }

    @Test func aCertificateOfSomebodyElse() async throws {
        let evidence = try await self.ask(TLSServer(for: "DNS:other.example", answers: ["204": Self.empty]))
        #expect(evidence.probes?.outcomes.first?.result == .impersonated)
        #expect(evidence.probes?.outcomes.first?.detail == "the certificate is for another name")
    }

    @Test func aCertificateThatHasExpired() async throws {
        let evidence = try await self.ask(TLSServer(days: -1, answers: ["204": Self.empty]))
        let outcome = try #require(evidence.probes?.outcomes.first)
        #expect(outcome.result == .unexpected)
        #expect(outcome.detail?.contains("has expired, or the clock of this machine is wrong") == true)
        #expect(evidence.probes?.internetAlone == .unknown, "NetworkManager says LIMITED, and names no reason")
        #expect(evidence.limitations.count == 1)
    }

    @Test(arguments: [true, false])
    func theNetworkTellsOfItsPortal(isCaptive: Bool) async throws {
        let answer = #"{"captive": \#(isCaptive), "user-portal-url": "https://portal.example/in"}"#
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/captive+json\r\nConnection: close\r\n"
        let response = "\(head)Content-Length: \(answer.utf8.count)\r\n\r\n\(answer)"
        let server = try TLSServer(answers: ["api": response])
        let lab = try LabHost()
        let round = try await HTTPProbeTableTests.round(
            [HTTPCheck(url: lab.url("/reset"))],
            portalAPI: "https://127.0.0.1:\(server.port)/api",
            transport: CurlTransport(certificateAuthority: server.authority, proxy: "")
        )
        #expect(round.internetAlone == (isCaptive ? .portal : .unreachable), "\(round)")
        #expect(round.portalURL == (isCaptive ? "https://portal.example/in" : nil))
    }
}
