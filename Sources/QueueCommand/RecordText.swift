// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathCLI
import NetPathHTTP
import OfflineRequests

extension RequestState {
    /// What it tells people.
    var meaning: String {
        switch self {
        case .ready: "wait for a path, a sender or their turn; \(typed("queue")) shows which"
        case .blocked: "are behind another of their lane"
        case .backoff: "were tried, and wait before the next time"
        case .running: "are being sent"
        case .held: "are held until you retry or cancel them"
        case .dead: "were given up; \(typed("queue dead")) shows them"
        case .succeeded: "were delivered; \(typed("queue responses")) shows them"
        case .cancelled: "were cancelled"
        }
    }

    var emphasis: TextStyle.Emphasis {
        switch self {
        case .ready, .blocked, .running, .succeeded: .good
        case .backoff, .held: .caution
        case .dead, .cancelled: .bad
        }
    }
}

extension RequestRecord {
    /// What is shown of it.
    func shown(_ secrets: SecretsOption) -> RequestRecord { secrets.showSecrets ? self : self.redacted }

    /// Two lines or more of a list: which request, and what it waits for.
    func lines(_ style: TextStyle) -> String {
        let request = self.request
        let state = self.state.rawValue
        let head = "\(request.id.text)  \(style.paint(state, self.state.emphasis))"
        var facts = ["\(request.method) \(request.endpoint)"]
        facts += [self.explanation, self.attemptsText].compactMap { $0 }
        let lead = 2
        let width = style.width.map { max(20, $0 - lead) }
        let rest = facts.flatMap { wrapped($0.safe, to: width) }.map { String(repeating: " ", count: lead) + $0 }
        return ([head] + rest).joined(separator: "\n") + "\n"
    }

    /// Why it stands where it stands; nil when there is nothing to say.
    var explanation: String? {
        if let waiting = self.waiting { return "waiting: \(waiting.description)\(waiting.advice(for: self.id))" }
        if let response = self.response { return "response: \(response)" }
        return self.state == .dead ? self.lastError : nil
    }

    private var attemptsText: String? {
        guard self.attempts > 0 else { return nil }
        let error = self.lastError.flatMap { self.state == .dead ? nil : $0 }
        let count = self.attempts == 1 ? "1 attempt" : "\(self.attempts) attempts"
        return count + (error.map { ", the last one: \($0)" } ?? "")
    }

    /// Everything about the request, for people.
    func screen(_ style: TextStyle) -> String {
        let request = self.request
        var screen = TextScreen(style)
        screen.title(self.state.rawValue.uppercased(), self.state.emphasis, "\(request.method) \(request.endpoint)")
        screen.heading("Request")
        screen.row("Identifier", [request.id.text])
        screen.row("Enqueued", [request.timestamp.text])
        for (label, value) in self.facts(of: request) { screen.row(label, [value]) }
        if !request.headers.fields.isEmpty {
            screen.row("Headers", request.headers.fields.map { "\($0.name): \($0.value)" })
        }
        screen.heading("Delivery")
        screen.row("Waiting", [self.waiting.map { $0.description + $0.advice(for: self.id) } ?? "no"])
        screen.row("Attempts", ["\(self.attempts), \(request.retryCount) of \(request.maxRetries) retries used"])
        if let notBefore = self.notBefore { screen.row("Not before", [notBefore.text]) }
        if let status = self.lastStatus { screen.row("Last status", ["\(status)"]) }
        if let error = self.lastError { screen.row("Last error", [error]) }
        if let response = self.response { screen.row("Response", [response.description]) }
        return screen.text
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    private func facts(of request: RetryableRequest) -> [(String, String)] {
        let requires = request.requires
        let needs = [
            requires.unmeteredOnly ? "a path that is not metered" : nil,
            requires.interfaceType.map { "a path over \($0.rawValue)" },
        ]
        // Values of headers may be secrets.
        let expected =
            (request.expectedStatuses.isEmpty ? [] : [request.expectedStatusText])
            + request.expectedHeaders.fields.map { "the header \($0.name)" }
        let facts: [(String, String?)] = [
            ("Expires", request.expiresAt?.text),
            ("Type", request.requestType.isEmpty ? nil : request.requestType),
            ("Priority", request.priority == .normal ? nil : "\(request.priority)"),
            ("Key", request.orderingKey.map { "\($0), on failure \(request.onFailure.rawValue)" }),
            ("Unique", request.uniqueKey),
            ("Idempotency-Key", request.idempotencyKey),
            ("Needs", needs.compactMap { $0 }.joined(separator: ", ")),
            ("Expects", expected.joined(separator: ", ")),
            ("Context", request.context.map { Self.bytes($0.count) }),
            ("Body", request.body.map { Self.bytes($0.count) } ?? request.bodyFile),
        ]
        return facts.compactMap { label, value in value.flatMap { $0.isEmpty ? nil : (label, $0) } }
    }
}
