// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP
import Testing

@testable import OfflineRequests

struct RequestCodingTests {
    private static let full: RetryableRequest = {
        var request = RetryableRequest(
            endpoint: "https://example.net/orders?x=1",
            method: "PATCH",
            headers: ["Authorization": "Bearer abcdef", "X-Twice": "1", "x-twice": "2"],
            body: Data([0, 255, 10]),
            timestamp: Date(timeIntervalSince1970: 1_800_000_000.25),
            maxRetries: 3,
            requestType: "order",
            orderingKey: "lane",
            idempotencyKey: .value("k \"1\"")
        )
        request.priority = .high
        request.expiresAt = Date(timeIntervalSince1970: 1_800_000_100)
        request.onFailure = .dropLane
        request.requires = PathRequirements(unmeteredOnly: true, interfaceType: .wifi)
        request.uniqueKey = "u"
        request.ifExists = .replace
        request.sensitiveHeaders = ["X-Twice"]
        request.timeouts = .init(connect: .milliseconds(1500), total: .seconds(9), stall: .seconds(4))
        request.responseLimit = 9
        request.expectedStatuses = [200, 304]
        request.expectedHeaders = ["X-Is": "\u{7}\"é\u{1F600}"]
        request.keepsResponse = true
        request.retryCount = 2
        request.context = Data("{}".utf8)
        return request
    }()

    @Test(arguments: [
        full, RetryableRequest(endpoint: "http://example.net/", timestamp: Date(timeIntervalSince1970: 1)),
    ])
    func whatIsEncodedIsDecoded(_ request: RetryableRequest) throws {
        let data = try JSONEncoder().encode(request)
        #expect(try JSONDecoder().decode(RetryableRequest.self, from: data) == request)
        var kept = request
        (kept.body, kept.retryCount) = (nil, 0)
        #expect(try JSONDecoder().decode(RetryableRequest.self, from: Data(request.text.utf8)) == kept)
    }

    /// A request that was kept without a key must not get one: its earlier attempts had none.
    @Test func aRequestWithoutAKeyStaysWithout() throws {
        let request = RetryableRequest(endpoint: "http://example.net/", method: "POST", idempotencyKey: .none)
        let decoded = try JSONDecoder().decode(RetryableRequest.self, from: JSONEncoder().encode(request))
        #expect(decoded.idempotencyKey == nil)
    }

    @Test func whatIsMissingHasItsDefaultAndWhatIsUnknownIsLeftAlone() throws {
        let id = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
        let json = #"{"id": "\#(id)", "endpoint": "http://example.net/", "colour": {"deep": [1]}, "timestamp": 0}"#
        let decoded = try JSONDecoder().decode(RetryableRequest.self, from: Data(json.utf8))
        var expected = RetryableRequest(
            id: try #require(UUID(uuidString: id)),
            endpoint: "http://example.net/",
            timestamp: Date(timeIntervalSinceReferenceDate: 0),
            idempotencyKey: .none
        )
        #expect(decoded == expected)
        expected.requires.unmeteredOnly = true
        #expect(decoded != expected)
    }

    @Test(arguments: [
        #"{"endpoint": "http://example.net/"}"#,
        #"{"id": "6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#,
        #"{"id": "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "endpoint": "http://e.net/", "priority": 7}"#,
        #"{"id": "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "endpoint": "http://e.net/", "onFailure": "explode"}"#,
        #"{"id": "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "endpoint": "http://e.net/", "requires": {"interfaceType": "wi"}}"#,
        "[]", "",
    ])
    func whatIsDamagedIsNotGuessed(_ json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(RetryableRequest.self, from: Data(json.utf8))
        }
    }

    /// What most requests do not use costs no byte on disk.
    @Test func defaultsAreNotWritten() {
        let json = RetryableRequest(endpoint: "http://e.net/").text
        for key in ["requires", "timeouts", "sensitiveHeaders", "keepsResponse", "priority", "body", "headers"] {
            #expect(!json.contains("\"\(key)\""), "\(key) in \(json)")
        }
    }

    static let reasons: [WaitingReason] = [
        .noPath("no carrier"), .metered, .interfaceType("WiFi"), .behind(UUID()),
        .backoff(until: Date(timeIntervalSince1970: 1_800_000_000)), .reconnecting, .concurrency,
        .hostPaused("example.net:8080", until: Date(timeIntervalSince1970: 1_800_000_000)), .unauthorized, .laneHeld,
        .portal, .redirected("example.net"), .unexpectedAnswer("no header X"), .damaged, .expired, .paused,
        .otherSender, .ownSender(until: nil), .notRunning,
    ]

    @Test(arguments: reasons)
    func aReasonIsAFlatObjectWithACode(_ reason: WaitingReason) throws {
        let data = try JSONEncoder().encode(reason)
        #expect(try JSONDecoder().decode(WaitingReason.self, from: data) == reason)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["code"] as? String == reason.code)
        #expect(!reason.description.isEmpty && !reason.description.hasSuffix("."))
    }

    @Test func everyReasonHasACodeOfItsOwn() {
        #expect(Set(Self.reasons.map(\.code)).count == Self.reasons.count)
    }

    @Test(arguments: [#"{"code": "later"}"#, #"{"code": "behind"}"#, #"{"code": "hostPaused", "text": "h"}"#])
    func anUnknownReasonIsAnError(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(WaitingReason.self, from: Data(json.utf8)) }
    }
}
