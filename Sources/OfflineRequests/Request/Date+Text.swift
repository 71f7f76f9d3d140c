// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import Foundation

extension Date {
    /// Local date and time, for people.
    package var text: String { self.text(withMilliseconds: false) }

    /// The same, with milliseconds where they are wanted.
    package func text(withMilliseconds isExact: Bool) -> String {
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .current)
        return self.formatted(style.year().month().day().time(includingFractionalSeconds: isExact))
    }
}
