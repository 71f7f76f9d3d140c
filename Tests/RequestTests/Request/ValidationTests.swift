// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

struct ValidationTests {
    private func refusal(_ request: RetryableRequest, maxBodyBytes: Int = .max) -> QueueError? {
        do throws(QueueError) {
            try request.validate(maxBodyBytes: maxBodyBytes)
            return nil
        } catch {
            return error
        }
    }

    private func refusedField(_ request: RetryableRequest) -> String? {
        guard case .invalidRequest(let field, _) = self.refusal(request) else { return nil }
        return field
    }

    private func refusedField<Value>(
        setting option: WritableKeyPath<RetryableRequest, Value>,
        to value: Value
    ) -> String? {
        var request = RetryableRequest(endpoint: "http://e.net/")
        request[keyPath: option] = value
        return self.refusedField(request)
    }

    @Test(arguments: [
        ("", "is empty"), ("example.net/path", "scheme"), ("//example.net/", "scheme"), ("ftp://example.net/", "http"),
        ("file:///etc/passwd", "http"), ("https://", "host"), ("http:///path", "host"), ("http://:80/", "host"),
        ("http://example.net:0/", "port"), ("http://example.net:65536/", "port"), ("http://example.net:+1/", "port"),
        ("http://example.net:８０/", "ASCII"), ("http://exa mple.net/", "space"),
        ("http://example.net/\r\nX: 1", "break"),
        ("http://example.net/\n", "break"), ("http://example.net/\0", "control"), ("http://exämple.net/", "ASCII"),
        ("http://user:pw@example.net/", "Authorization"), (#"http://good.net\@evil.net/"#, "backslash"),
        ("http://[::1/", "bracket"), ("http://[::1]x/", "after"), ("http://[127.0.0.1]/", "IPv6"),
        ("http://192.0.2/", "IPv4"), ("http://-a.net/", "letters"), ("http://a..net/", "empty"),
    ])
    func aBadAddressIsRefused(_ endpoint: String, _ word: String) throws {
        let error = try #require(self.refusal(RetryableRequest(endpoint: endpoint)))
        guard case .invalidRequest(let field, let reason) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(field == "endpoint")
        #expect(reason.contains(word), "\(reason)")
        #expect(!error.description.contains("pw"))
    }

    @Test(arguments: [
        ("http://example.net", "example.net"), ("HTTPS://Example.NET:443/", "example.net"),
        ("http://example.net:443/a?b=c#d", "example.net:443"), ("http://192.0.2.7:8080", "192.0.2.7:8080"),
        ("http://[2001:db8::7]:80/", "[2001:db8::7]"), ("https://[2001:DB8::7]:8443?q", "[2001:db8::7]:8443"),
        ("http://[fe80::1%25eth0]/", "[fe80::1%25eth0]"), ("http://localhost:/", "localhost"),
        ("http://a_b.example/?next=http://other@x/", "a_b.example"),
    ])
    func aGoodAddressIsKnownByItsHost(_ endpoint: String, _ host: String) {
        let request = RetryableRequest(endpoint: endpoint)
        #expect(self.refusal(request) == nil)
        #expect(request.host == host)
    }

    @Test func theHostOfABadAddressIsEmpty() {
        #expect(RetryableRequest(endpoint: "nowhere").host.isEmpty)
    }

    @Test(arguments: ["", "get", "POTS", "GET /", "G\r\nET", "CONNECT", "TRACE", "PRI"])
    func anUnknownMethodIsRefused(_ method: String) {
        #expect(self.refusedField(RetryableRequest(endpoint: "http://e.net/", method: method)) == "method")
    }

    @Test func aMisspelledMethodIsNamed() throws {
        let error = try #require(self.refusal(RetryableRequest(endpoint: "http://e.net/", method: "POTS")))
        #expect(error.description.contains("did you mean POST?"))
    }

    @Test(arguments: ["GET", "POST", "DELETE", "QUERY", "PROPFIND"])
    func aKnownMethodIsTaken(_ method: String) {
        #expect(self.refusal(RetryableRequest(endpoint: "http://e.net/", method: method)) == nil)
    }

    @Test(arguments: [
        ("", "1"), ("X Y", "1"), ("X:", "1"), ("X\r\nEvil", "1"), ("Ü", "1"), ("X", "1\r\nEvil: 1"), ("X", "1\n"),
        ("X", "1\r"), ("X", "\0"), ("X", "\u{7F}"), ("Content-Length", "3"), ("content-length", "3"),
        ("Transfer-Encoding", "chunked"), ("Connection", "close"), ("Upgrade", "h2c"), ("TE", "trailers"),
    ])
    func aBadHeaderIsRefused(_ name: String, _ value: String) throws {
        let headers = HeaderFields([HeaderFields.Field(name: name, value: value)])
        let request = RetryableRequest(endpoint: "http://e.net/", headers: headers)
        #expect(try #require(self.refusedField(request)).hasPrefix("header"))
    }

    @Test func theRefusalOfAHeaderDoesNotQuoteItsValue() throws {
        let request = RetryableRequest(endpoint: "http://e.net/", headers: ["Authorization": "Bearer s3cret\n"])
        #expect(!(try #require(self.refusal(request)).description.contains("s3cret")))
    }

    @Test func whatTerminalsActOnIsSpelled() throws {
        let error = try #require(self.refusal(RetryableRequest(endpoint: "http://e.net/", method: "G\u{1B}[2J")))
        #expect(!error.description.contains("\u{1B}"))
    }

    @Test(arguments: [("Host", "other.net"), ("X", ""), ("X", "a\tb"), ("X", "grün"), ("Expect", "")])
    func aGoodHeaderIsTaken(_ name: String, _ value: String) {
        let headers = HeaderFields([HeaderFields.Field(name: name, value: value)])
        #expect(self.refusal(RetryableRequest(endpoint: "http://e.net/", headers: headers)) == nil)
    }

    @Test(arguments: ["a\r\nb", "a\nb", "a\0b", "\u{7F}"])
    func noTextTakesALineBreak(_ text: String) {
        let url = "http://e.net/"
        #expect(self.refusedField(RetryableRequest(endpoint: url, requestType: text)) == "type")
        #expect(self.refusedField(RetryableRequest(endpoint: url, orderingKey: text)) == "ordering key")
        #expect(self.refusedField(setting: \.uniqueKey, to: text) == "unique key")
        #expect(self.refusedField(setting: \.bodyFile, to: text) == "body file")
        #expect(self.refusedField(RetryableRequest(endpoint: url, idempotencyKey: .value(text))) == "idempotency key")
    }

    @Test func emptyKeysAreRefused() {
        let url = "http://e.net/"
        #expect(self.refusedField(RetryableRequest(endpoint: url, orderingKey: "")) == "ordering key")
        #expect(self.refusedField(setting: \.uniqueKey, to: "") == "unique key")
        #expect(self.refusedField(RetryableRequest(endpoint: url, idempotencyKey: .value(""))) == "idempotency key")
        #expect(self.refusedField(RetryableRequest(endpoint: url, idempotencyKey: .value("ключ"))) == "idempotency key")
    }

    @Test func twoKeysAreRefused() {
        let headers: HeaderFields = ["idempotency-key": "\"a\""]
        let both = RetryableRequest(endpoint: "http://e.net/", headers: headers, idempotencyKey: .value("b"))
        #expect(self.refusedField(both) == "idempotency key")
        #expect(self.refusal(RetryableRequest(endpoint: "http://e.net/", headers: headers)) == nil)
    }

    @Test func bodiesAreLimited() {
        let request = RetryableRequest(endpoint: "http://e.net/", body: Data(count: 11))
        #expect(self.refusal(request, maxBodyBytes: 10) == .bodyTooLarge(bytes: 11, limit: 10))
        #expect(self.refusal(request, maxBodyBytes: 11) == nil)
        var both = request
        both.bodyFile = "/tmp/body"
        #expect(self.refusedField(both) == "body")
    }

    @Test func numbersAreChecked() {
        let url = "http://e.net/"
        #expect(self.refusedField(RetryableRequest(endpoint: url, maxRetries: -1)) == "limit of retries")
        let never = Date(timeIntervalSince1970: .nan)
        #expect(self.refusedField(RetryableRequest(endpoint: url, timestamp: never)) == "timestamp")
        #expect(self.refusedField(setting: \.expiresAt, to: never) == "expiry")
        for timeouts in [
            TransportRequest.Timeouts(connect: .zero), TransportRequest.Timeouts(total: .seconds(-1)),
            TransportRequest.Timeouts(stall: .zero),
        ] {
            #expect(self.refusedField(setting: \.timeouts, to: timeouts)?.hasSuffix("timeout") == true)
        }
        let requires = PathRequirements(interfaceType: ConnectionType.none)
        #expect(self.refusedField(setting: \.requires, to: requires) == "required interface")
    }

    /// What the transport would refuse later, when nobody is there to be told, must be refused when it is enqueued.
    @Test(arguments: UInt64(0)..<8)
    func theTransportTakesWhatTheQueueTakes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "http", "https", "://", "/", "?", "#", "@", ":", "80", "[", "]", "::1", "e.net", "192.0.2.1", "%", "%25",
            "\"", "<", "\\", " ", "ü", "-", "_", ".", "\t", "\n", "a", "{", "|", "^", "`",
        ]
        let methods = ["GET", "POST", "M-SEARCH", "CONNECT", "", "P T"]
        var taken = 0
        for _ in 0..<2_000 {
            func text(_ count: ClosedRange<Int>) -> String {
                (0..<Int.random(in: count, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? ""
                }.joined()
            }
            let isNear = Bool.random(using: &generator)
            let request = RetryableRequest(
                endpoint: isNear ? "http://e.net" + text(0...3) : text(1...6),
                method: methods.randomElement(using: &generator) ?? "",
                headers: isNear ? [:] : [text(0...2): text(0...2)],
                idempotencyKey: .value(text(1...3))
            )
            guard self.refusal(request) == nil else { continue }
            taken += 1
            #expect(throws: Never.self, "\(request.endpoint) seed \(seed)") { try request.httpRequest().validate() }
        }
        #expect(taken > 20)
    }
}
