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
struct CheckFinding: Hashable, Sendable {
    var result: ProbeOutcome.Result
    /// What there is to know besides, for people.
    var detail: String?
    /// Where a portal asks for a sign-in.
    var portalURL: String?
    /// Why a certificate is not valid at the time this machine has.
    var certificateFault: TransportError.CertificateFault?

    private init(_ result: ProbeOutcome.Result, _ detail: String? = nil, portalURL: String? = nil) {
        self.result = result
        self.detail = detail
        self.portalURL = portalURL
    }

    init(_ answer: Result<TransportResponse, TransportError>, to check: HTTPCheck) {
        switch answer {
        case .success(let response): self.init(response, to: check)
        case .failure(let error): self.init(error)
        }
    }

    private init(_ response: TransportResponse, to check: HTTPCheck) {
        switch response.status {
        // A page that is longer than any expected answer.
        case 200..<300 where response.isCut:
            self.init(.portal, "the network answers with a page of its own", portalURL: check.url)
        case _ where check.isMet(by: response): self.init(.expected)
        case 200..<300:
            let isAltered = response.status == check.status
            let fault = isAltered ? "with another content" : "with \(response.status) and a page of its own"
            // A browser that opens the address meets the portal.
            self.init(.portal, "the network answers \(fault)", portalURL: check.url)
        case 300..<400: self.init(redirect: response.headers["Location"], of: check)
        // RFC 6585, 6.
        case 511: self.init(.portal, "the network asks for a sign-in (511)", portalURL: check.url)
        default: self.init(.unexpected, "the server answered with \(response.status) in place of \(check.status)")
        }
    }

    private init(redirect location: String?, of check: HTTPCheck) {
        guard let location, let target = WebAddress(location, from: check.url) else {
            self.init(.portal, "the network redirects, and names no address", portalURL: check.url)
            return
        }
        if target.isUpgrade(of: check.url) {
            self.init(.unexpected, "the server redirects to https; use \(target.text) instead")
        } else {
            self.init(.portal, "the network redirects to \(target.host)", portalURL: target.text)
        }
    }

    private init(_ error: TransportError) {
        switch (error.reason, error.certificateFault) {
        case (.tls, .expired?), (.tls, .notYetValid?):
            self.init(.unexpected)
            self.certificateFault = error.certificateFault
        case (.tls, .untrusted?):
            self.init(.impersonated, "no authority that this machine trusts has signed the certificate")
        case (.tls, .wrongName?): self.init(.impersonated, "the certificate is for another name")
        case (.tls, _): self.init(.impersonated, "TLS fails: \(error.message)")
        case (.badResponse, _): self.init(.unexpected, "the answer is not HTTP")
        case (.nameNotResolved, _): self.init(.notResolved)
        case (.refused, _): self.init(.refused)
        case (.connectTimedOut, _), (.timedOut, _): self.init(.timedOut)
        case (.unreachable, _): self.init(.timedOut, "the host is unreachable")
        default: self.init(.timedOut, error.message)
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
