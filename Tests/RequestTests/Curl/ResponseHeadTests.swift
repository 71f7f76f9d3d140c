// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import Testing

@testable import NetPathCurl

@Suite struct ResponseHeadTests {
    private func head(_ lines: String...) -> ResponseHead {
        var head = ResponseHead()
        for line in lines {
            let isShort = head.take(Array("\(line)\r\n".utf8))
            #expect(isShort)
        }
        return head
    }

    @Test func theStatusAndTheFieldsAreRead() {
        let head = self.head("HTTP/1.1 503 Service Unavailable", "Retry-After:  7\t", "X-Empty:", "x: a:b", "")
        #expect(head.status == 503)
        #expect(head.isComplete)
        #expect(head.headers == ["Retry-After": "7", "X-Empty": "", "x": "a:b"])
    }

    @Test func anInformationalStatusIsNoAnswer() {
        let informed = self.head("HTTP/1.1 100 Continue", "X: early", "")
        #expect(informed.status == nil)
        #expect(!informed.isComplete)
        let head = self.head("HTTP/1.1 103 Early Hints", "X: early", "", "HTTP/2 204", "X: late", "")
        #expect(head.status == 204)
        #expect(head.headers == ["X": "late"])
    }

    @Test func aLengthThatNoBodyHasIsNoticed() {
        func isImpossible(_ length: String) -> Bool {
            self.head("HTTP/1.1 200 OK", "content-Length: \(length)").isLengthInvalid
        }
        #expect(isImpossible("99999999999999999999999"))
        for length in ["99999999999999999999999, 9", "+5", "-1", "", "x", "0x10", "1 0", "5, 10", "5,"] {
            #expect(isImpossible(length), "\(length)")
        }
        for length in ["9223372036854775807", "5, 5", " 05\t"] { #expect(!isImpossible(length), "\(length)") }
        let lengths = ["Content-Length: 5", "Content-Length: 10"]
        #expect(self.head("HTTP/1.1 200 OK", lengths[0], lengths[1]).isLengthInvalid)
        #expect(!self.head("HTTP/1.1 200 OK", lengths[0], lengths[0]).isLengthInvalid)
        // Which has no body.
        #expect(!self.head("HTTP/1.1 204 No Content", "Content-Length: 99999999999999999999").isLengthInvalid)
    }

    @Test func onlyChunksHaveLengthsOfTheirOwn() {
        for codings in ["gzip, Chunked", "chunked, identity", "chunked;a=b"] {
            #expect(self.head("HTTP/1.1 200 OK", "Transfer-Encoding: \(codings)").isChunked)
        }
        #expect(self.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: identity").isChunked)
        #expect(!self.head("HTTP/1.1 200 OK", "Transfer-Encoding: identity").isChunked)
    }

    /// A server that writes what it was sent into its head must not make a refusal a success.
    @Test func onlyTheFirstLineHasTheStatus() {
        for line in ["HTTP/1.1 200 OK: y", "HTTP/x: 200", "HTTP/1.1 200 OK"] {
            let head = self.head("HTTP/1.1 500 X", line, "Content-Length: 2", "")
            #expect(head.status == 500 && head.isComplete && head.headers["Content-Length"] == "2")
            #expect(self.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", line, "").status == 200)
        }
    }

    @Test func aHeadThatIsCutIsNotComplete() {
        #expect(!self.head("HTTP/1.1 200 OK", "X: y").isComplete)
        #expect(self.head().status == nil)
        #expect(self.head("HTTP/1.1 abc").status == nil)
    }

    @Test func trailersAreNoFields() {
        #expect(self.head("HTTP/1.1 200 OK", "", "X-Trailer: 1", "").headers.fields.isEmpty)
    }

    @Test func aHeadCannotGrowForEver() {
        var head = ResponseHead()
        let line = Array("X: \(String(repeating: "y", count: 1000))\r\n".utf8)
        _ = head.take(Array("HTTP/1.1 200 OK\r\n".utf8))
        let taken = (0..<1000).prefix { _ in head.take(line) }.count
        #expect((200..<300).contains(taken))
    }
}
