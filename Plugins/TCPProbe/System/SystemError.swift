// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// An error number of the system (`errno(3)`), with what was tried.
struct SystemError: Error, Hashable, CustomStringConvertible {
    let number: Int32
    /// What was tried, such as "open a socket".
    var action = "reach a target"

    /// The failure of the call that was just made by this thread.
    static func last(_ action: String) -> SystemError { SystemError(number: errno, action: action) }

    /// This host has no route.
    static let networkUnreachable = SystemError(number: ENETUNREACH)
    /// A router or a neighbour says that there is no way.
    static let hostUnreachable = SystemError(number: EHOSTUNREACH)
    /// There is no such interface.
    static let noDevice = SystemError(number: ENODEV)

    /// The sentence of the system for the number.
    var reason: String { unsafe strerror(self.number).map { unsafe String(cString: $0) } ?? "error \(self.number)" }

    var description: String { "cannot \(self.action): \(self.reason)" }
}
