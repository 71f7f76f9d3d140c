// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPathHTTP

/// What an answer must be like for a request to count as delivered.
///
/// A host between this one and the server may answer in its place, as captive portals do with plain http. What such
/// an answer lacks is best something that only the server writes.
package struct ExpectedAnswer: Hashable, Sendable, Codable {
    /// The statuses that mean success; empty for 200 to 299.
    package var statuses: Set<Int>
    /// The fields that must be there, with a value that begins with this one, or with any where this one is empty.
    package var headers: HeaderFields

    /// Creates an expectation; without arguments, that the status tells of success.
    package init(statuses: Set<Int> = [], headers: HeaderFields = [:]) {
        self.statuses = statuses
        self.headers = headers
    }

    /// Whether a status means success.
    func includes(_ status: Int) -> Bool {
        self.statuses.isEmpty ? 200..<300 ~= status : self.statuses.contains(status)
    }

    /// What an answer lacks whose status means success here or everywhere, without secrets; nil when it is as expected.
    func lack(in response: TransportResponse) -> String? {
        guard self.includes(response.status) else { return "the status \(response.status)" }
        let missing = self.headers.fields.first { expected in
            !response.headers.fields.contains { field in
                field.name.lowercased() == expected.name.lowercased()
                    && field.value.lowercased().hasPrefix(expected.value.lowercased())
            }
        }
        return missing.map { "no header \($0.name), or with another value" }
    }
}
