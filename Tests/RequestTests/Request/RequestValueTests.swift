// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP
import Testing

@testable import OfflineRequests

struct RequestValueTests {
    @Test(arguments: ["GET", "POST", "PATCH", "DELETE"])
    func everyAttemptCarriesTheSameKey(_ method: String) throws {
        let request = RetryableRequest(endpoint: "http://e.net/", method: method)
        let key = try #require(request.idempotencyKey)
        #expect(request.httpRequest().headers["Idempotency-Key"] == "\"\(key)\"")
        var later = request
        later.retryCount = 5
        #expect(later.httpRequest() == request.httpRequest())
        let other = RetryableRequest(endpoint: "http://e.net/", method: method)
        #expect(other.idempotencyKey != key)
    }

    @Test func theKeyIsAStringOfStructuredFields() {
        let request = RetryableRequest(endpoint: "http://e.net/", idempotencyKey: .value(#"a"b\c"#))
        #expect(request.httpRequest().headers["Idempotency-Key"] == #""a\"b\\c""#)
    }

    @Test func noKeyIsNoHeader() {
        let request = RetryableRequest(endpoint: "http://e.net/", idempotencyKey: .none)
        #expect(request.httpRequest().headers["Idempotency-Key"] == nil)
        #expect(!request.carriesKey)
    }

    @Test func aHeaderOfTheCallersOwnIsTheKey() {
        let request = RetryableRequest(endpoint: "http://e.net/", headers: ["idempotency-KEY": "\"mine\""])
        #expect(request.httpRequest().headers.fields.map(\.value) == ["\"mine\""])
        #expect(request.carriesKey)
    }

    @Test func theBodyIsWhatTheQueueKept() {
        var request = RetryableRequest(endpoint: "http://e.net/", method: "PUT", body: Data([1, 2]))
        #expect(request.httpRequest().body == .bytes([1, 2]))
        request.body = nil
        #expect(request.httpRequest().body == TransportRequest.Body.none)
        request.bodyFile = "/tmp/a"
        #expect(request.httpRequest().body == .file("/tmp/a"))
    }

    @Test func prioritiesCompare() {
        #expect(RequestPriority.low < .normal && .normal < .high)
    }

    @Test func whatIsFinalDoesNotMove() {
        #expect(RequestState.allCases.filter(\.isFinal) == [.dead, .succeeded, .cancelled])
    }

    /// What, where, why and what to do.
    @Test(arguments: [
        (QueueError.invalidRequest(field: "method", reason: "is unknown"), ["method of the request is unknown"]),
        (.queueFull(limit: 7, of: "requests"), ["7 requests", "raise"]),
        (.bodyTooLarge(bytes: 9, limit: 8), ["9", "8"]),
        (.bodyUnreadable(path: "/f", reason: "it is not there"), ["/f", "it is not there"]),
        (.diskFull(path: "/q", missing: nil), ["/q", "make room"]),
        (.diskFull(path: "/q", missing: 2049), ["/q", "make room for 3 KiB more"]),
        (.corrupt(path: "/q", setAsideAs: "/q.1"), ["/q", "/q.1"]),
        (.corrupt(path: "/q", setAsideAs: nil), ["/q", "left as it is"]),
        (.newerSchema(path: "/q", version: 9), ["/q", "9"]),
        (.missing(path: "/q"), ["/q", "no queue"]), (.notTrusted(path: "/q", reason: "why"), ["/q", "why"]),
        (.notAQueue(path: "/q"), ["/q"]), (.isDirectory(path: "/q"), ["/q", "folder"]),
        (.readOnly(path: "/q"), ["/q", "permissions"]), (.io(path: "/q", reason: "EIO"), ["/q", "EIO"]),
        (.closed, ["closed"]),
    ])
    func errorsSayWhatAndWhere(_ error: QueueError, _ words: [String]) {
        for word in words { #expect(error.description.contains(word)) }
        #expect(error.localizedDescription == error.description)
    }
}
