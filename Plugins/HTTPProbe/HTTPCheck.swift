// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// An address that is asked for, and the answer that only the real one gives.
public struct HTTPCheck: Hashable, Sendable {
    /// The address, of `http` or `https`.
    public var url: String
    /// The status of the answer.
    public var status: Int
    /// How the body begins; nil when it does not matter.
    public var body: String?
    /// A field of the answer; nil when none matters.
    public var header: Header?

    /// A field and its value.
    public struct Header: Hashable, Sendable {
        /// The name, in any case.
        public var name: String
        /// The value, as it is.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - status: The status of the answer; with 204 an empty 200 will do, which proxies make of it.
    ///   - body: How the body begins.
    ///   - header: A field of the answer.
    public init(url: String, status: Int = 204, body: String? = nil, header: Header? = nil) {
        self.url = url
        self.status = status
        self.body = body
        self.header = header
    }

    var isSecure: Bool { self.url.lowercased().hasPrefix("https:") }
}
