// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Who has logged in; forgotten when the server ends.
package struct Sessions: Sendable {
    /// More are not kept: the oldest has to log in again.
    package static let limit = 64
    /// The name of the cookie.
    static let cookie = "netpath"

    private var keys: [[UInt8]] = []

    package init() {}

    /// Begins a session.
    ///
    /// - Returns: What the browser has to show from then on.
    package mutating func begin() -> String {
        let key = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
        self.keys.append(Array(key.utf8))
        if self.keys.count > Self.limit { self.keys.removeFirst() }
        return key
    }

    /// Whether a header with cookies shows one.
    package func contains(_ header: String?) -> Bool {
        guard let key = Self.key(in: header) else { return false }
        // Every one is looked at: how long that takes tells nothing.
        return self.keys.reduce(false) { found, other in
            let isSame = ConstantTime.areEqual(key, other)
            return found || isSame
        }
    }

    /// Ends the session that a header with cookies shows.
    package mutating func end(_ header: String?) {
        guard let key = Self.key(in: header) else { return }
        self.keys.removeAll { ConstantTime.areEqual(key, $0) }
    }

    private static func key(in header: String?) -> [UInt8]? {
        for pair in (header ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == Self.cookie { return Array(parts[1].utf8) }
        }
        return nil
    }
}
