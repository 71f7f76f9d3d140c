// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Why there is no whole response, and what that means for sending again.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How far the request came: this alone decides whether sending it again is safe.
    public enum Progress: Hashable, Sendable {
        /// No byte of the request left this host: the server cannot have acted on it.
        case notSent
        /// The server may have received it, and acted.
        case mayHaveBeenReceived
        /// The server answered with this status, but the response did not come to its end.
        case answered(status: Int)
    }

    /// What happened.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Reason: String, Hashable, Sendable, Codable {
        /// The address, the method or a header is not valid.
        case invalidRequest
        /// The file of the body, or of the response, cannot be used.
        case file
        /// The name was not resolved.
        case nameNotResolved
        /// The host refuses connections.
        case refused
        /// There is no route, or the network says so.
        case unreachable
        /// The connection could not be made in time.
        case connectTimedOut
        /// The whole took too long, or nothing moved for too long.
        case timedOut
        /// The connection broke.
        case connectionLost
        /// TLS failed, the certificate included.
        case tls
        /// The response is not HTTP, or has a longer head than allowed.
        case badResponse
        /// It was cancelled.
        case cancelled
        /// Something else; the message says what.
        case other
    }

    /// What is wrong with the certificate of the server that answered.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum CertificateFault: String, Hashable, Sendable {
        /// It was valid once.
        case expired
        /// It will be valid.
        case notYetValid
        /// No authority that is trusted has signed it.
        case untrusted
        /// It is for another name.
        case wrongName
        /// Something else; the message says what.
        case other
    }

    /// How far the request came.
    public var progress: Progress
    /// What happened.
    public var reason: Reason
    /// A sentence for a person.
    public var message: String
    /// What is wrong with the certificate, where that is the reason and the transport knows; nil otherwise.
    public var certificateFault: CertificateFault?

    /// Creates an error.
    public init(_ reason: Reason, progress: Progress, message: String) {
        self.progress = progress
        self.reason = reason
        self.message = message
    }

    /// The message.
    public var description: String { self.message }
}
