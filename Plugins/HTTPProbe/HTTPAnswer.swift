// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP

/// What came of a request.
struct HTTPAnswer: Sendable {
    var result: Result<TransportResponse, TransportError>
    var roundTrip: Duration
    /// The time of day when it came, in seconds since 1970.
    var time: Int64

    /// Whether the request may have left the machine.
    var wasSent: Bool {
        guard case .failure(let error) = self.result else { return true }
        return error.progress != .notSent || ![.unreachable, .nameNotResolved].contains(error.reason)
    }

    /// Whether there is a whole answer, of whatever kind.
    var isAnswered: Bool { if case .success = self.result { true } else { false } }

    /// Whether nothing came back, not even of the attempt to connect.
    var isSilence: Bool {
        guard case .failure(let error) = self.result else { return false }
        return error.reason == .connectTimedOut
    }

    /// How far the clock of this machine is ahead of the server's; nil when the server does not tell.
    var clockLead: Int64? {
        guard case .success(let response) = self.result, let text = response.headers["Date"] else { return nil }
        return HTTPDate.seconds(of: text, now: self.time).map { self.time - $0 }
    }
}

/// What an answer says of a check.
enum CheckFinding: Hashable, Sendable {
    /// It is the expected one.
    case expected
    /// A portal in between answered, which may have named a place to sign in.
    case portal(url: String?, String)
    /// The server answered something else.
    case unexpected(String)
    /// A certificate is not valid at the time this machine has.
    case outOfTime(TransportError.CertificateFault)
    /// A server answered that cannot prove to be the one asked for.
    case impersonated(String)
    /// There is no answer.
    case failed(ProbeOutcome.Result, String?)

    init(_ answer: Result<TransportResponse, TransportError>, to check: HTTPCheck) {
        switch answer {
        case .success(let response): self.init(response, to: check)
        case .failure(let error): self.init(error, to: check)
        }
    }

    private init(_ response: TransportResponse, to check: HTTPCheck) {
        // A page that is longer than any expected answer.
        if response.isCut, (200..<300).contains(response.status) {
            self = .portal(url: check.url, "the network answers with a page of its own")
            return
        }
        if check.isMet(by: response) {
            self = .expected
            return
        }
        switch response.status {
        case 200..<300:
            let isAltered = response.status == check.status
            let fault = isAltered ? "with another content" : "with \(response.status) and a page of its own"
            // A browser that opens the address meets the portal.
            self = .portal(url: check.url, "the network answers \(fault)")
        case 300..<400: self.init(redirect: response.headers["Location"], of: check)
        // RFC 6585, 6.
        case 511: self = .portal(url: check.url, "the network asks for a sign-in (511)")
        default: self = .unexpected("the server answered with \(response.status) in place of \(check.status)")
        }
    }

    private init(redirect location: String?, of check: HTTPCheck) {
        guard let location, let target = WebAddress(location, from: check.url) else {
            self = .portal(url: check.url, "the network redirects, and names no address")
            return
        }
        if target.isUpgrade(of: check.url) {
            self = .unexpected("the server redirects to https; name \(target.text) in place of it")
        } else {
            self = .portal(url: target.text, "the network redirects to \(target.host)")
        }
    }

    private init(_ error: TransportError, to check: HTTPCheck) {
        self =
            switch (error.reason, error.certificateFault) {
            case (.tls, .expired?): .outOfTime(.expired)
            case (.tls, .notYetValid?): .outOfTime(.notYetValid)
            case (.tls, .untrusted?): .impersonated("the certificate is of no authority that this machine trusts")
            case (.tls, .wrongName?): .impersonated("the certificate is for another name")
            case (.tls, _): .impersonated("TLS fails: \(error.message)")
            case (.badResponse, _): .unexpected("the answer is not HTTP")
            case (.nameNotResolved, _): .failed(.notResolved, nil)
            case (.refused, _): .failed(.refused, nil)
            case (.connectTimedOut, _), (.timedOut, _): .failed(.timedOut, nil)
            case (.unreachable, _): .failed(.timedOut, "no way there")
            default: .failed(.timedOut, error.message)
            }
    }
}

extension HTTPCheck {
    /// Whether an answer is the expected one.
    func isMet(by response: TransportResponse) -> Bool {
        let isEmpty = response.status == 200 && response.body.isEmpty
        guard response.status == self.status || (self.status == 204 && isEmpty) else { return false }
        if let header, response.headers[header.name] != header.value { return false }
        if let body { return response.body.starts(with: Array(body.utf8)) }
        // Of an expected 204 nothing can follow.
        return self.status != 204 || response.body.isEmpty
    }
}
