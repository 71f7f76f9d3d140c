// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a server answered.
public struct TransportResponse: Hashable, Sendable, Codable {
    /// The status (RFC 9110, 15).
    public var status: Int
    /// The fields.
    public var headers: HeaderFields
    /// The body; empty when it was written to a file.
    public var body: [UInt8]
    /// Whether the rest of the body is missing, because it is longer than may be kept.
    public var isCut: Bool

    /// Creates a response.
    public init(status: Int, headers: HeaderFields = [:], body: [UInt8] = [], isCut: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isCut = isCut
    }
}
