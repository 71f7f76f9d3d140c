// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathHTTP
import Testing

@testable import OfflineRequests

/// What becomes of a request after one attempt.
struct OutcomeTests {
    private func end(
        of result: Result<TransportResponse, TransportError>,
        _ request: RetryableRequest = post(),
        _ settings: QueueSettings = QueueSettings()
    ) -> Disposition {
        var lab = MachineLab(settings)
        lab.online()
        return lab.attempt(request, result)
    }

    /// The wait before the next attempt, where it counted or not as expected.
    private func wait(_ end: Disposition, counts expected: Bool = true) -> Duration? {
        guard case .retry(let after, let counts) = end, counts == expected else { return nil }
        return after
    }

    @Test(arguments: [200, 201, 202, 204, 206, 299])
    func successIsDone(_ status: Int) {
        #expect(self.end(of: .status(status)) == .succeeded)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 511])
    func whatMayPassIsTriedAgain(_ status: Int) throws {
        let wait = try #require(self.wait(self.end(of: .status(status))))
        #expect(wait <= .seconds(1))
    }

    @Test(arguments: [100, 300, 301, 302, 304, 307, 308, 400, 403, 404, 405, 410, 413, 415, 418, 422, 501, 505, 600])
    func whatWouldFailAgainIsGivenUp(_ status: Int) {
        #expect(self.end(of: .status(status)) == .dead(reason: "the server answered \(status)"))
    }

    /// A captive portal may have given it, in the place of a server that is asked over plain http.
    @Test func aRedirectionThatIsCutIsNoAnswerOfTheServer() {
        let result = Result<TransportResponse, TransportError>.error(.connectionLost, .answered(status: 302))
        #expect(self.wait(self.end(of: result)) != nil)
        let secure = RetryableRequest(endpoint: "https://e.net/", method: "POST")
        #expect(self.end(of: result, secure) == .dead(reason: "it failed"))
    }

    @Test(arguments: [401, 407])
    func credentialsHoldARequestAndDoNotDiscardIt(_ status: Int) {
        #expect(self.end(of: .status(status), post(maxRetries: 0)) == .hold(.unauthorized))
    }

    /// The first request with the key is still being worked on.
    @Test func aConflictWithAKeyIsTriedAgainWithTheSameKey() {
        let request = post()
        #expect(self.wait(self.end(of: .status(409), request)) != nil)
        #expect(request.httpRequest().headers["Idempotency-Key"] == "\"\(request.id.uuidString.lowercased())\"")
        let without = RetryableRequest(endpoint: "http://e.net/", method: "POST", idempotencyKey: .none)
        #expect(self.end(of: .status(409), without) == .dead(reason: "the server answered 409"))
        let own = RetryableRequest(endpoint: "http://e.net/", headers: ["Idempotency-Key": "\"k\""])
        #expect(self.wait(self.end(of: .status(409), own)) != nil)
    }

    /// The clock of the lab shows Fri, 15 Jan 2027 08:00:00 GMT.
    @Test(arguments: [
        ("120", 120.0), ("0", 0), ("Fri, 15 Jan 2027 08:02:00 GMT", 120), ("Friday, 15-Jan-27 08:02:00 GMT", 120),
        ("Fri Jan 15 08:02:00 2027", 120), ("Fri, 15 Jan 2027 07:00:00 GMT", 0), ("999999999", 86_400),
        ("Fri, 15 Jan 2100 08:00:00 GMT", 86_400), ("soon", 0), ("-5", 0), ("", 0),
    ])
    func retryAfterIsTheLeastWait(_ value: String, _ seconds: Double) throws {
        for status in [503, 429, 409] {
            let wait = try #require(self.wait(self.end(of: .status(status, ["Retry-After": value]))))
            // The backoff of a first attempt is at most a second.
            #expect(wait >= .seconds(seconds) && wait <= .seconds(max(1, seconds)), "\(wait)")
        }
    }

    @Test func aLongerBackoffOutlastsRetryAfter() throws {
        var request = post(maxRetries: 1_000)
        request.retryCount = 50
        var waits: [Duration] = []
        var lab = MachineLab()
        lab.online()
        for _ in 0..<50 {
            waits.append(try #require(self.wait(lab.attempt(request, .status(503, ["Retry-After": "2"])))))
        }
        #expect(waits.allSatisfy { $0 >= .seconds(2) && $0 <= .seconds(300) })
        #expect(waits.contains { $0 > .seconds(100) })
    }

    @Test(arguments: [
        TransportError.Reason.nameNotResolved, .refused, .unreachable, .connectTimedOut, .connectionLost, .tls,
        .timedOut,
        .cancelled, .other,
    ])
    func whatDidNotLeaveThisHostCostsNothing(_ reason: TransportError.Reason) {
        #expect(self.end(of: .error(reason, .notSent), post(maxRetries: 0)) == .waitForPath)
    }

    @Test func whatCannotBeSentIsGivenUp() {
        #expect(self.end(of: .error(.invalidRequest, .notSent)) == .dead(reason: "it failed"))
        // A file may be readable the next time.
        #expect(self.wait(self.end(of: .error(.file, .notSent))) != nil)
    }

    @Test(arguments: [TransportError.Reason.timedOut, .connectionLost, .tls, .cancelled, .badResponse, .other])
    func whatMayHaveBeenReceivedCounts(_ reason: TransportError.Reason) {
        #expect(self.wait(self.end(of: .error(reason, .mayHaveBeenReceived))) != nil)
        #expect(
            self.end(of: .error(reason, .mayHaveBeenReceived), post(maxRetries: 0))
                == .dead(reason: "given up after 1 attempt: it failed")
        )
    }

    @Test func anAnswerThatBrokeOffIsJudgedByItsStatus() {
        #expect(self.wait(self.end(of: .error(.connectionLost, .answered(status: 200)))) != nil)
        #expect(self.wait(self.end(of: .error(.connectionLost, .answered(status: 503)))) != nil)
        #expect(self.end(of: .error(.connectionLost, .answered(status: 404))) == .dead(reason: "it failed"))
        #expect(self.end(of: .error(.timedOut, .answered(status: 401))) == .hold(.unauthorized))
        // The server has done it, and the same answer would be no better the next time.
        #expect(self.end(of: .error(.badResponse, .answered(status: 200))) == .dead(reason: "it failed"))
    }

    @Test func theLastAttemptEndsIt() {
        var request = post(maxRetries: 2)
        #expect(self.wait(self.end(of: .status(503), request)) != nil)
        request.retryCount = 1
        #expect(self.wait(self.end(of: .lost, request)) != nil)
        request.retryCount = 2
        #expect(
            self.end(of: .status(503), request)
                == .dead(reason: "given up after 3 attempts: the server answered 503")
        )
        #expect(self.end(of: .notSent, request) == .waitForPath)
        #expect(self.end(of: .status(200), request) == .succeeded)
    }

    @Test func statusesAreAMatterOfPolicy() {
        let usual = QueueSettings.with { $0.retryableStatuses.subtract([503]) }
        #expect(self.end(of: .status(503), post(), usual) == .dead(reason: "the server answered 503"))
        let others = QueueSettings.with { ($0.retryableStatuses, $0.holdingStatuses) = ([404], [503]) }
        #expect(self.wait(self.end(of: .status(404), post(), others)) != nil)
        #expect(self.end(of: .status(503), post(), others) == .hold(.unauthorized))
        #expect(self.end(of: .status(401), post(), others) == .dead(reason: "the server answered 401"))
    }

    // MARK: Answers of somebody else

    private static let elsewhere = Result<TransportResponse, TransportError>.status(
        302,
        ["Location": "http://portal.example/login?to=http%3A%2F%2Fe.net%2F"]
    )

    /// What a portal says is no reason to give up, nor to count, and what a server says is one to ask somebody.
    @Test(arguments: [
        (InternetReachability.portal, false), (.unreachable, false), (.unknown, true),
    ])
    func whatLeadsToAnotherHostIsTriedAgain(_ internet: InternetReachability, counts: Bool) {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: true, internet: internet), at: lab.now)
        let wait = self.wait(lab.attempt(post(maxRetries: 1), Self.elsewhere), counts: counts)
        #expect(wait != nil)
        if !counts { #expect(wait.map { $0 >= .seconds(10) } == true) }
    }

    @Test func whatLeadsToAnotherHostIsHeldWhereTheInternetIsThere() {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: true, internet: .reachable), at: lab.now)
        #expect(lab.attempt(post(), Self.elsewhere) == .hold(.redirected("portal.example")))
        var request = post()
        request.orderingKey = "lane"
        #expect(lab.attempt(request, Self.elsewhere) == .hold(.redirected("portal.example")))
        request.onFailure = .skip
        guard case .dead(let reason) = lab.attempt(request, Self.elsewhere) else {
            Issue.record("the lane stands still")
            return
        }
        #expect(!reason.contains("login"), "\(reason)")
        // Nobody can tell, and it was tried often enough.
        lab.online()
        #expect(lab.attempt(post(maxRetries: 0), Self.elsewhere) == .hold(.redirected("portal.example")))
        for place in [
            "http://wifi.münchen.example/login", "http://u:p@portal.example/", "http://portal.example:0/",
            "http:/portal.example/", "\\\\portal.example\\x", "wifi://sign-in",
        ] {
            #expect(lab.attempt(post(maxRetries: 0), .status(302, ["Location": place])) == .hold(.redirected(place)))
        }
        for place in ["/moved", "https://e.net/moved", "http://e.net:8080/", "?x=http://a"] {
            guard case .dead = lab.attempt(post(), .status(301, ["Location": place])) else {
                Issue.record("\(place)")
                return
            }
        }
    }

    @Test func whatIsExpectedCounts() {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: true, internet: .reachable), at: lab.now)
        var request = post()
        request.expectedStatuses = [201, 404]
        request.expectedHeaders = ["Content-Type": "application/json", "X": ""]
        let fields: HeaderFields = ["content-type": "Application/JSON; charset=utf-8", "x": "1"]
        #expect(lab.attempt(request, .status(201, fields)) == .succeeded)
        #expect(lab.attempt(request, .status(404, fields)) == .succeeded)
        for (status, fields) in [(200, fields), (201, ["Content-Type": "text/html", "X": "1"]), (404, [:])] {
            guard case .hold(.unexpectedAnswer) = lab.attempt(request, .status(status, fields)) else {
                Issue.record("\(status) \(fields)")
                return
            }
        }
        guard case .retry = lab.attempt(request, .status(503)) else {
            Issue.record("503")
            return
        }
    }

    /// No other host can have given it.
    @Test(arguments: [InternetReachability.unknown, .portal, .unreachable])
    func whatIsNotExpectedOverTLSIsHeldAtOnce(_ internet: InternetReachability) {
        var lab = MachineLab()
        lab.machine.path(PathFacts(isSatisfied: true, internet: internet), at: lab.now)
        var request = RetryableRequest(endpoint: "https://e.net/", method: "POST")
        request.expectedStatuses = [201, 204, 205, 206]
        let end = lab.attempt(request, .status(200))
        #expect(end == .hold(.unexpectedAnswer("200 instead of 201 or 204-206")))
        #expect(lab.attempt(request, Self.elsewhere) == .hold(.redirected("portal.example")))
    }

    /// A token that cannot be had is no reason to give a request up, nor to ask for it in a circle.
    @Test func aPreparationThatFailsCostsNothingAndPauses() throws {
        var lab = MachineLab()
        lab.online()
        let request = post(maxRetries: 0)
        for attempts in 1...30 {
            lab.machine.started(request.id, gate: Gate(request), at: lab.now)
            let end = lab.machine.prepareFailed(request.id, attempts: attempts)
            let wait = try #require(self.wait(end, counts: false))
            let ceiling = Backoff.ceiling(attempt: attempts - 1, base: .seconds(1), cap: .seconds(300))
            #expect(wait >= ceiling / 2 && wait <= ceiling)
        }
        #expect(lab.machine.slots(at: lab.now) == 16)
        #expect(lab.waiting(request) == nil)
    }
}
