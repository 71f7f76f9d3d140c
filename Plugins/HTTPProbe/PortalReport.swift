// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathPluginKit

/// What a network says of its own portal (RFC 8908, 5).
struct PortalReport: Hashable, Sendable {
    /// Whether a user has to sign in.
    var isCaptive: Bool
    /// Where.
    var userPortalURL: String?

    /// Reads an answer of the interface; nil when it says nothing of the kind.
    init?(_ bytes: [UInt8]) {
        guard let report = try? JSONReader.read(bytes[...]), case .bool(let isCaptive)? = report["captive"]
        else { return nil }
        self.isCaptive = isCaptive
        if case .string(let url)? = report["user-portal-url"] { self.userPortalURL = WebAddress(url)?.text }
    }
}
