// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Foundation

/// Why a request does not go out now.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum WaitingReason: Hashable, Sendable {
    /// There is no path, or it is not known whether it is one that the request may take; the text says why.
    case noPath(String)
    /// The path is metered, and the request must not go over such a path.
    case metered
    /// The path does not lead over an interface of this type.
    case interfaceType(String)
    /// This request of the same lane goes first.
    case behind(UUID)
    /// It was tried, and is tried again then.
    case backoff(until: Date)
    /// The path has just returned, and must prove itself first.
    case reconnecting
    /// As many requests as may be are being sent.
    case concurrency
    /// This host was not reached or failed, and is left alone until then.
    case hostPaused(String, until: Date)
    /// The server did not accept the credentials; it waits until a user tries it again, with new ones.
    case unauthorized
    /// A captive portal answers in the place of servers, and the request would go over plain http.
    case portal
    /// It was sent to this host instead, by the server or by a host on the way; it waits until a user tries it again.
    case redirected(String)
    /// The answer is not what the request expects, so that another host may have given it; it waits until a user
    /// tries it again.
    case unexpectedAnswer(String)
    /// It is at the head of its lane and was given up, and the lane stands still until a user decides.
    case laneHeld
    /// It is not what was taken, because the file or its body was damaged; it must not be sent, and waits until a user
    /// cancels it.
    case damaged
    /// Its time is over; the next process that sends gives it up.
    case expired
    /// The queue is paused.
    case paused
    /// Another process sends for this queue.
    case otherSender
    /// Another process sends this request alone, and tries it again then; nil for as soon as it can.
    case ownSender(until: Date?)
    /// Sending has not been started.
    case notRunning
}

extension WaitingReason: CustomStringConvertible {
    /// A stable, machine-readable name, for example `noPath`.
    public var code: String { self.coded.code }

    /// When that may be over; nil where no time says it.
    package var until: Date? { self.coded.until }

    /// A sentence for a person, without a final full stop.
    public var description: String {
        switch self {
        case .noPath(let reason): "no path: \(reason)"
        case .metered: "the path is metered or constrained"
        case .interfaceType(let type): "the path does not lead over \(type)"
        case .behind(let head): "behind \(head.text) of the same lane"
        case .backoff(let until): "it will be tried again at \(until.text)"
        case .reconnecting: "the path has just returned"
        case .concurrency: "its turn has not come"
        case .hostPaused(let host, let until):
            "\(host) was not reached or failed, and is left alone until \(until.text)"
        case .unauthorized: "the server did not accept the credentials; it waits for new ones"
        case .portal: "behind a captive portal, and plain http is not sent; sign in, or use https"
        case .redirected(let host): "the server redirects to \(host); send it there, or retry it"
        case .unexpectedAnswer(let reason):
            "the answer is not as expected: \(reason); check which server answered, then retry it"
        case .laneHeld: "it was given up; its lane waits until you retry or cancel it"
        case .damaged: "it is damaged, in the file of the queue or in that of its body"
        case .expired: "it has expired, and is given up by the next process that sends"
        case .paused: "the queue is paused"
        case .otherSender: "another process sends for this queue, and gets to it in turn"
        case .ownSender(let until):
            "another process sends this request alone, and tries it again "
                + (until.map { "at \($0.text)" } ?? "as soon as it can")
        case .notRunning: "sending has not been started"
        }
    }
}

extension WaitingReason: Codable {
    /// The flat form that is kept and shown: a code, and what belongs to it.
    private struct Coded: Codable, Equatable {
        var code: String
        var text: String?
        var id: UUID?
        var until: Date?
    }

    private var coded: Coded {
        switch self {
        case .noPath(let reason): Coded(code: "noPath", text: reason)
        case .metered: Coded(code: "metered")
        case .interfaceType(let type): Coded(code: "interfaceType", text: type)
        case .behind(let head): Coded(code: "behind", id: head)
        case .backoff(let until): Coded(code: "backoff", until: until)
        case .reconnecting: Coded(code: "reconnecting")
        case .concurrency: Coded(code: "concurrency")
        case .hostPaused(let host, let until): Coded(code: "hostPaused", text: host, until: until)
        case .unauthorized: Coded(code: "unauthorized")
        case .portal: Coded(code: "portal")
        case .redirected(let host): Coded(code: "redirected", text: host)
        case .unexpectedAnswer(let reason): Coded(code: "unexpectedAnswer", text: reason)
        case .laneHeld: Coded(code: "laneHeld")
        case .damaged: Coded(code: "damaged")
        case .expired: Coded(code: "expired")
        case .paused: Coded(code: "paused")
        case .otherSender: Coded(code: "otherSender")
        case .ownSender(let until): Coded(code: "ownSender", until: until)
        case .notRunning: Coded(code: "notRunning")
        }
    }

    /// Encodes the reason as an object with a `code`.
    public func encode(to encoder: any Encoder) throws {
        try self.coded.encode(to: encoder)
    }

    /// Decodes a reason.
    public init(from decoder: any Decoder) throws {
        let coded = try Coded(from: decoder)
        let (text, id, until) = (coded.text ?? "", coded.id ?? UUID(), coded.until ?? .distantPast)
        let all: [WaitingReason] = [
            .noPath(text), .metered, .interfaceType(text), .behind(id), .backoff(until: until),
            .reconnecting, .concurrency, .hostPaused(text, until: until), .unauthorized, .portal, .redirected(text),
            .unexpectedAnswer(text), .laneHeld, .damaged, .expired, .paused, .otherSender,
            .ownSender(until: coded.until), .notRunning,
        ]
        // What belongs to it must be there, too.
        guard let decoded = all.first(where: { $0.coded == coded }) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "\(coded.code) is no reason to wait, or lacks what belongs to it"
                )
            )
        }
        self = decoded
    }
}
