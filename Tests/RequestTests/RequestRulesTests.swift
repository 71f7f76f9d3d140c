// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathHTTP
import Testing

@Suite struct RequestRulesTests {
    private func problem(_ request: TransportRequest) -> TransportError? {
        do throws(TransportError) {
            try request.validate()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "http://example.test", "HTTPS://example.test/", "http://example.test:8080/a/b?c=d&e={f}#g", "http://[::1]/",
        "http://[fe80::1%25eth0]:80/x", "http://127.0.0.1?x", "http://example.test:",
        "https://xn--bcher-kva.test/%C3%BC",
        "http://example.test/a@b",
    ])
    func wholeAddressesAreValid(url: String) {
        #expect(self.problem(TransportRequest(url: url)) == nil)
    }

    @Test(arguments: [
        "", "example.test", "/path", "//example.test/", "ftp://example.test/", "file:///etc/passwd",
        "http:example.test",
        "http://", "http:///path", "http://:80/", "http://[]/", "http://[::1/", "http://[::1]x/", "http://a b/",
        "http://a/b c", "http://a/\r\nX: y", "http://a/\0", "http://bücher.test/", "http://a\\@b/", "http://a:0/",
        "http://a:65536/", "http://a:8a/", "http://user:secret@a/",
    ])
    func otherAddressesAreNot(url: String) {
        let error = self.problem(TransportRequest(url: url))
        #expect(error?.reason == .invalidRequest)
        #expect(error?.progress == .notSent)
        #expect(error?.message.contains("secret") != true)
        #expect(error?.message.utf8.allSatisfy { $0 >= 0x20 } != false, "a message must not carry the injection on")
    }

    @Test(arguments: ["", "GE T", "GET\r\n", "GÉT", "CONNECT", "GET\0", "A/B"])
    func methodsAreTokens(method: String) {
        #expect(self.problem(TransportRequest(method: method, url: "http://a/"))?.reason == .invalidRequest)
        #expect(self.problem(TransportRequest(method: "M-SEARCH", url: "http://a/")) == nil)
    }

    @Test(arguments: [
        ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\0b"), ("X", "\u{7f}"), ("", "a"), ("X Y", "a"),
        ("X:", "a"), ("X\r\nY", "a"), ("Content-Length", "3"), ("transfer-encoding", "chunked"), ("Ü", "a"),
    ])
    func fieldsCannotBecomeTwo(name: String, value: String) {
        let request = TransportRequest(url: "http://a/", headers: [name: value])
        #expect(self.problem(request)?.reason == .invalidRequest)
    }

    @Test func ordinaryFieldsAreValid() {
        let headers: HeaderFields = ["Host": "other.test", "X-Tab": "a\tb", "X-Empty": "", "X-Text": "bücher"]
        #expect(self.problem(TransportRequest(url: "http://a/", headers: headers)) == nil)
    }

    @Test func aHeadRequestHasNoBody() {
        #expect(self.problem(TransportRequest(method: "HEAD", url: "http://a/", body: .bytes([1]))) != nil)
        #expect(self.problem(TransportRequest(method: "HEAD", url: "http://a/")) == nil)
    }

    @Test(arguments: [("wan0", true), ("", false), ("a b", false), ("a/b", false), ("abcdefghijklmnop", false)])
    func interfacesHaveNames(name: String, isValid: Bool) {
        #expect((self.problem(TransportRequest(url: "http://a/", interface: name)) == nil) == isValid)
    }

    @Test func messagesSayWhereWithoutTheQuery() {
        #expect(TransportRequest(url: "http://a/b?token=secret#c").place == "http://a/b")
    }
}
