// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathHTTP

/// One round over all checks, without input and output: answers in, verdict out.
///
/// What a portal does to plain HTTP outweighs what other checks say, because portals let through what they do not know,
/// and hosts that they were told of. HTTPS is judged by itself: with a wrong clock, or a proxy in between that signs
/// certificates, it does not work though the internet is there.
struct HTTPProbeRound: Sendable {
    private let checks: [HTTPCheck]
    private let portalAPI: String?
    private var answers: [Int: HTTPAnswer] = [:]
    private var report: PortalReport?
    /// Why the answer of `portalAPI` is none.
    private var portalFault: String?
    private var isReportDue: Bool

    init(_ options: HTTPProbeMonitor.Options) {
        self.checks = options.checks
        self.portalAPI = options.portalAPI
        self.isReportDue = options.portalAPI != nil
    }

    /// Takes the answer to a check, by its position.
    mutating func received(_ answer: HTTPAnswer, to check: Int) { self.answers[check] = answer }

    /// Takes what the network says of its portal.
    mutating func received(portalReport answer: HTTPAnswer) {
        self.isReportDue = false
        switch answer.result {
        case .success(let response) where response.status == 200:
            self.report = PortalReport(response.body)
            if self.report == nil { self.portalFault = "answers without saying whether the network is captive" }
        case .success(let response): self.portalFault = "answers with \(response.status) in place of 200"
        case .failure(let error): self.portalFault = "does not answer: \(error.message)"
        }
    }

    /// Whether everything was answered, or failed.
    var isFinished: Bool { self.answers.count == self.checks.count && !self.isReportDue && !self.checks.isEmpty }

    /// Whether a request may have left the machine: without a path no name is resolved, and no connection begins.
    var wasSent: Bool { self.report != nil || self.answers.isEmpty || self.answers.values.contains(where: \.wasSent) }

    /// Whether nothing came back of any check.
    var isSilent: Bool { !self.answers.isEmpty && self.answers.values.allSatisfy(\.isSilence) }

    /// What is known.
    var result: ProbeRound {
        let findings = self.findings
        var outcomes: [ProbeOutcome] = []
        var portalURL: String?
        for (check, answer, finding) in findings {
            var outcome = ProbeOutcome(target: check.place, result: finding.result)
            outcome.detail = finding.certificateFault.map { self.sentence(on: $0, of: check) } ?? finding.detail
            outcome.roundTrip = answer.roundTrip
            outcomes.append(outcome)
            portalURL = portalURL ?? finding.portalURL
        }
        if let api = self.portalAPI, let report, report.isCaptive {
            // A check that went through is proof, and the network's word is not.
            if !findings.contains(where: { $0.finding.result == .expected }) || portalURL != nil {
                outcomes.append(ProbeOutcome(target: api, result: .portal))
                portalURL = report.userPortalURL ?? portalURL
            }
        }
        var round = ProbeRound(outcomes: outcomes, isComplete: self.isFinished)
        round.asksForContent = true
        round.portalURL = portalURL
        return round
    }

    /// What is wrong besides the internet, each a sentence.
    var limitations: [String] {
        let findings = self.findings
        let isPlainFine = findings.contains { !$0.check.isSecure && $0.finding.result == .expected }
        var sentences: [String] = findings.compactMap { check, _, finding in
            if let fault = finding.certificateFault { return "HTTPS: \(self.sentence(on: fault, of: check))" }
            guard finding.result == .impersonated, isPlainFine, let detail = finding.detail else { return nil }
            return "HTTPS to \(check.place) is intercepted: \(detail)"
        }
        // Without a way there, silence says nothing of the address.
        if let portalAPI, let portalFault, findings.contains(where: \.answer.isAnswered) {
            let place = TransportRequest(url: portalAPI).place
            sentences.append("the captive portal API: \(place) \(portalFault) (portalAPI, RFC 8908)")
        }
        return sentences
    }

    private var findings: [(check: HTTPCheck, answer: HTTPAnswer, finding: CheckFinding)] {
        self.answers.sorted { $0.key < $1.key }.map { position, answer in
            (self.checks[position], answer, CheckFinding(answer.result, to: self.checks[position]))
        }
    }

    /// A certificate out of its time is the server's fault, or that of our clock; the dates of servers tell.
    private func sentence(on fault: TransportError.CertificateFault, of check: HTTPCheck) -> String {
        let certificate =
            "the certificate of \(check.place) " + (fault == .expired ? "has expired" : "is not valid yet")
        // The nearest to zero: a wrong date of one server is no wrong clock.
        let leads = self.answers.values.compactMap(\.clockLead)
        guard let lead = leads.min(by: { abs($0) < abs($1) }) else {
            return "\(certificate), or the clock of this machine is wrong"
        }
        guard abs(lead) >= Self.wrongClock else { return "\(certificate), by the clock of other servers too" }
        let days = max(1, abs(lead) / 86_400)
        return "\(certificate) because the clock of this machine is wrong: "
            + "\(days) \(days == 1 ? "day" : "days") \(lead > 0 ? "ahead of" : "behind") other servers"
    }

    /// So many seconds apart are no question of synchronization.
    private static let wrongClock: Int64 = 43_200
}

extension HTTPCheck {
    /// Where it goes, without what may be secret.
    var place: String { TransportRequest(url: self.url).place }
}
