// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP
import Testing

@testable import NetPathHTTPProbe

/// Answers in, verdict out.
@Suite struct HTTPProbeRoundTests {
    private static let plain = HTTPCheck(url: "http://a.example/204")
    private static let secure = HTTPCheck(url: "https://b.example/204?secret")
    private static let now: Int64 = 1_800_000_000

    private static func answer(_ status: Int, _ headers: HeaderFields = [:], body: String = "") -> HTTPAnswer {
        let response = TransportResponse(status: status, headers: headers, body: Array(body.utf8))
        return HTTPAnswer(result: .success(response), roundTrip: .milliseconds(7), time: Self.now)
    }

    private static func failure(
        _ reason: TransportError.Reason,
        _ fault: TransportError.CertificateFault? = nil
    ) -> HTTPAnswer {
        var error = TransportError(reason, progress: .notSent, message: "it broke")
        error.certificateFault = fault
        return HTTPAnswer(result: .failure(error), roundTrip: .milliseconds(7), time: Self.now)
    }

    private func round(_ plain: HTTPAnswer, _ secure: HTTPAnswer, report: HTTPAnswer? = nil) -> HTTPProbeRound {
        var options = HTTPProbeMonitor.Options(checks: [Self.plain, Self.secure])
        if report != nil { options.portalAPI = "https://api.example/" }
        var round = HTTPProbeRound(options)
        round.received(plain, to: 0)
        #expect(!round.isFinished && !round.result.isComplete)
        round.received(secure, to: 1)
        if let report { round.received(portalReport: report) }
        #expect(round.isFinished && round.result.isComplete)
        return round
    }

    @Test func aPortalOutweighsTheHostsThatItLetsThrough() {
        let round = self.round(Self.answer(302, ["Location": "http://portal.example/"]), Self.answer(204))
        #expect(round.result.outcomes.map(\.result) == [.portal, .expected])
        #expect(round.result.internetAlone == .portal)
        #expect(round.result.portalURL == "http://portal.example/")
    }

    @Test func nothingSecretIsTold() {
        let round = self.round(Self.answer(204), Self.answer(204))
        #expect(round.result.outcomes.map(\.target) == ["http://a.example/204", "https://b.example/204"])
    }

    @Test func tlsThatIsTakenApartIsSaid() {
        let round = self.round(Self.answer(204), Self.failure(.tls, .untrusted))
        #expect(round.result.internetAlone == .reachable)
        #expect(
            round.limitations == [
                "HTTPS to https://b.example/204 is intercepted: "
                    + "no authority that this machine trusts has signed the certificate"
            ]
        )
    }

    @Test(arguments: [
        // 2027-01-15 08:00:00 GMT is our time.
        ("Fri, 15 Jan 2027 08:00:00 GMT", "has expired, by the clock of other servers too"),
        ("Fri, 15 Jan 2027 20:00:01 GMT", "1 day behind other servers"),
        ("Thu, 15 Jan 2026 08:00:00 GMT", "365 days ahead of other servers"),
        ("nonsense", "has expired, or the clock of this machine is wrong"),
    ])
    func theClockIsJudgedByTheDatesOfServers(date: String, sentence: String) {
        let round = self.round(Self.answer(204, ["Date": date]), Self.failure(.tls, .expired))
        #expect(round.result.outcomes.map(\.result) == [.expected, .unexpected])
        #expect(round.result.internetAlone == .reachable)
        #expect(round.limitations.count == 1)
        #expect(round.limitations.first?.hasSuffix(sentence) == true, "\(round.limitations)")
    }

    @Test func theNetworksWordAddsToSilence() {
        let report = Self.answer(200, body: #"{"captive":true,"user-portal-url":"https://p.example/"}"#)
        let captive = self.round(Self.failure(.connectTimedOut), Self.failure(.connectTimedOut), report: report)
        #expect(captive.result.internetAlone == .portal)
        #expect(captive.result.portalURL == "https://p.example/")
        let proven = self.round(Self.answer(204), Self.answer(204), report: report)
        #expect(proven.result.internetAlone == .reachable, "what went through is proof")
        let free = self.round(
            Self.failure(.connectTimedOut),
            Self.failure(.connectTimedOut),
            report: Self.answer(200, body: #"{"captive":false}"#)
        )
        #expect(free.result.internetAlone == .unreachable, "no proof of the internet")
    }

    @Test(arguments: [
        (TransportError.Reason.connectTimedOut, ProbeOutcome.Result.timedOut), (.timedOut, .timedOut),
        (.nameNotResolved, .notResolved), (.refused, .refused), (.unreachable, .timedOut),
        (.connectionLost, .timedOut), (.tls, .impersonated), (.badResponse, .unexpected),
    ])
    func failures(reason: TransportError.Reason, expected: ProbeOutcome.Result) {
        #expect(self.round(Self.failure(reason), Self.answer(204)).result.outcomes.first?.result == expected)
    }

    /// A firewall refuses, too: only the content is proof.
    @Test func aRefusedConnectionIsNoInternet() {
        let round = self.round(Self.failure(.refused), Self.failure(.connectTimedOut)).result
        #expect(round.outcomes.map(\.result) == [.refused, .timedOut])
        #expect(!round.answered && round.internetAlone == .unreachable)
    }

    /// An address of `portalAPI` that is none would look like a network without a portal.
    @Test func anAddressThatTellsOfNoPortalIsMentioned() {
        let silence = Self.failure(.connectTimedOut)
        for (report, fault) in [
            (Self.answer(404), "answers with 404 in place of 200"),
            (Self.answer(200, body: "<html>"), "answers without saying whether the network is captive"),
            (silence, "does not answer: it broke"),
        ] {
            #expect(
                self.round(Self.answer(204), silence, report: report).limitations == [
                    "the captive portal API: https://api.example/ \(fault) (portalAPI, RFC 8908)"
                ]
            )
        }
        #expect(self.round(silence, silence, report: silence).limitations == [], "there is no way there")
        let free = Self.answer(200, body: #"{"captive":false}"#)
        #expect(self.round(Self.answer(204), silence, report: free).limitations == [])
    }

    @Test func silenceIsWhatNothingCameBackOf() {
        let silence = Self.failure(.connectTimedOut)
        #expect(self.round(silence, silence).isSilent)
        #expect(!self.round(silence, Self.failure(.refused)).isSilent)
        #expect(!self.round(silence, Self.failure(.timedOut)).isSilent)
    }

    private static let deep =
        #"{"captive":true,"a":"# + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}"

    @Test(
        arguments: [
            (#"{"captive":true}"#, true), (#" { "a" : [1, {"b": "]}"}, null], "captive" : true } "#, true),
            (#"{"captive":false,"seconds-remaining":1.5e3}"#, false), (#"{"\u0063aptive":true}"#, true), ("{}", nil),
            ("", nil), ("[]", nil), ("true", nil), (#"{"captive":"true"}"#, nil), (#"{"captive":true"#, nil),
            (#"{"captive":true}x"#, nil), (#"{"captive":true,"captive":true}"#, nil), (Self.deep, nil),
            ("{\"captive\":true,\"a\":\"\\", nil), (#"{"captive":true,}"#, nil),
        ] as [(String, Bool?)]
    )
    func portalReports(text: String, isCaptive: Bool?) {
        #expect(PortalReport(Array(text.utf8))?.isCaptive == isCaptive)
    }

    @Test func anAddressThatActsOnATerminalIsNone() {
        let text = "{\"captive\":true,\"user-portal-url\":\"https://p.example/\u{1B}[2J\"}"
        #expect(PortalReport(Array(text.utf8))?.userPortalURL == nil)
        let round = self.round(Self.answer(302, ["Location": "http://p/\u{1B}[2J"]), Self.answer(204))
        #expect(round.result.portalURL == Self.plain.url)
    }
}
