// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Testing

@testable import OfflineRequests

struct RedactionTests {
    private static let request: RetryableRequest = {
        var request = RetryableRequest(
            endpoint:
                "https://alice:s3cret%21word@example.net/a?access_token=tok3nvalue&code=c0devalue&pwd=pwdvalue&sig=abcd1234&bareval",
            method: "POST",
            headers: [
                "Authorization": "Bearer beareRvalue", "proxy-authorization": "Basic QWxhZGRpbg==",
                "Cookie": "sid=c00kieval; a=b",
                "X-Api-Key": "apiKeyvalue", "X-Acme-Access-Token": "acmevalue", "User-Agent": "harmless",
                "Ocp-Apim-Subscription-Key": "0cpvalue",
                "X-Functions-Key": "funct10nvalue",
                "X-Mine": "minevalue",
            ],
            body: Data("bodysecret".utf8)
        )
        request.sensitiveHeaders = ["x-mine"]
        return request
    }()
    private static let secrets = [
        "s3cret", "alice", "tok3nvalue", "abcd1234", "beareRvalue", "QWxhZGRpbg", "c00kieval", "apiKeyvalue",
        "acmevalue",
        "minevalue", "bodysecret", "0cpvalue", "funct10nvalue", "c0devalue", "pwdvalue", "bareval",
    ]

    private func expectNoSecret(_ text: String, _ comment: Comment) {
        for secret in Self.secrets { #expect(!text.contains(secret), comment) }
    }

    @Test func nothingThatIsPrintedOfARequestHasASecret() {
        let request = Self.request
        var dumped = ""
        dump(request, to: &dumped)
        var nested = ""
        dump([RequestRecord(request: request, state: .ready, sequence: 1)], to: &nested)
        for text in [
            request.description, request.debugDescription, "\(request)", String(reflecting: request), dumped, nested,
            String(describing: [request]),
            String(reflecting: RequestRecord(request: request, state: .ready, sequence: 1)),
            String(describing: RequestRecord(request: request, state: .ready, sequence: 1)),
            "\(String(describing: Optional(request)))",
        ] {
            self.expectNoSecret(text, "\(text)")
            #expect(text.contains("example.net/a"))
        }
        #expect(dumped.contains("harmless") && dumped.contains("code=<redacted>"))
    }

    @Test func theRedactedRequestIsTheSameBesides() {
        let redacted = Self.request.redacted
        #expect(
            redacted.endpoint
                == "https://<redacted>@example.net/a?access_token=<redacted>&code=<redacted>&pwd=<redacted>&sig=<redacted>&<redacted>"
        )
        #expect(redacted.headers["User-Agent"] == "harmless")
        #expect(redacted.headers["X-Mine"] == "<redacted>")
        #expect(redacted.headers.fields.map(\.name) == Self.request.headers.fields.map(\.name))
        #expect(redacted.id == Self.request.id && redacted.body == Self.request.body)
    }

    @Test func responsesLoseWhatIsNotKnownToBeHarmless() {
        var record = RequestRecord(request: Self.request, state: .succeeded, sequence: 1)
        record.response = TransportResponse(
            status: 200,
            headers: ["Content-Type": "text/plain", "Set-Cookie": "sid=c00kieval", "X-Auth-Token": "acmevalue"],
            body: []
        )
        record.lastError = "refused beareRvalue"
        let shown = record.redacted
        #expect(shown.response?.headers["Set-Cookie"] == "<redacted>")
        #expect(shown.response?.headers["X-Auth-Token"] == "<redacted>")
        #expect(shown.response?.headers["Content-Type"] == "text/plain")
        #expect(shown.lastError == "refused <redacted>")
        self.expectNoSecret("\(shown.response as Any)", "the response")
    }

    @Test func whatIsPrintedOfWhatIsSentAndAnsweredHasNoSecret() {
        let request = Self.request.httpRequest()
        var record = RequestRecord(request: Self.request, state: .succeeded, sequence: 1)
        record.response = TransportResponse(
            status: 200,
            headers: ["Content-Type": "text/plain", "Set-Cookie": "sid=c00kieval", "X-Auth-Token": "acmevalue"],
            body: Array("acmevalue".utf8)
        )
        func expectNone(_ value: some Any, _ what: String) {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                self.expectNoSecret(text, "\(what): \(text)")
            }
        }
        expectNone(request, "what is sent")
        expectNone(request.headers, "its headers")
        expectNone(record, "the record")
        expectNone(record.response as Any, "the response")
        #expect("\(request)".hasPrefix("\(request.method) https://<redacted>@example.net/a?"), "\(request)")
        #expect("\(request.headers)".contains("User-Agent: harmless"), "\(request.headers)")
        #expect(record.response.map { "\($0)" } == "200, 9 bytes")
    }

    @Test func errorsOfTransportsLoseTheSecrets() {
        let message =
            "could not send Bearer beareRvalue to https://alice:s3cret%21word@example.net/a?access_token=tok3nvalue, "
            + "password s3cret!word, cookie c00kieval; and key minevalue"
        let shown = Self.request.redact(message)
        self.expectNoSecret(shown, "\(shown)")
        #expect(shown.hasPrefix("could not send "))
        #expect(shown.contains("example.net/a"))
    }

    /// Replacing what is as short as a word would tear holes into every sentence.
    @Test func shortValuesAndNamesOfSchemesStay() {
        let request = RetryableRequest(
            endpoint: "http://e.net/",
            headers: ["X-Token": "1", "Authorization": "Bearer abcdefgh"]
        )
        #expect(request.redact("1 Bearer was refused") == "1 Bearer was refused")
    }

    @Test(arguments: [
        ("Authorization", true), ("PROXY-AUTHORIZATION", true), ("cookie", true), ("Set-Cookie", true),
        ("X-Api-Key", true), ("apikey", true), ("X-Amz-Security-Token", true), ("X-CSRF-Token", true),
        ("X-Client-Secret", true), ("X-Auth-Password", true), ("X-Session-Id", true), ("X-Hub-Signature-256", true),
        ("Ocp-Apim-Subscription-Key", true), ("X-Functions-Key", true), ("Location", true), ("X-Unknown", true),
        ("Content-Type", false), ("Accept", false), ("Idempotency-Key", false), ("User-Agent", false),
        ("X-Request-Id", false), ("If-None-Match", false), ("Monkey", true),
    ])
    func namesTell(_ name: String, _ isSensitive: Bool) {
        #expect(RetryableRequest(endpoint: "http://e.net/").isSensitive(header: name) == isSensitive)
    }

    @Test(arguments: [
        "not a url", "", "@", "://@", "http://@/", "http://a@b@c/", "?token=x", "http://e.net/?token",
        "http://e.net/?=",
        "http://e.net/#token=abcdef",
    ])
    func noAddressBreaksIt(_ endpoint: String) {
        let request = RetryableRequest(endpoint: endpoint)
        #expect(!request.description.isEmpty)
        #expect(!request.redacted.endpoint.contains("a@b"))
        _ = request.redact("text")
    }

    /// The reason of the end of a request is listed and logged.
    @Test func whatAnAttemptCameToHasNoSecret() throws {
        var lab = MachineLab()
        lab.online()
        let error = TransportError(.other, progress: .mayHaveBeenReceived, message: "sent apiKeyvalue in vain")
        var request = Self.request
        request.maxRetries = 0
        let end = lab.attempt(request, .failure(error))
        guard case .dead(let reason) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(reason == "given up after 1 attempt: sent <redacted> in vain")
    }
}
