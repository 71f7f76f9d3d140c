// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Why the system refuses something, for people.
package enum SystemReason {
    /// The words of an error number (`strerror(3)`), and what to do where that is the same whatever was refused.
    package static func text(_ number: Int32) -> String {
        let words = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return switch number {
        case EMFILE: "\(words); allow this process more of them (ulimit -n, LimitNOFILE= of a systemd unit)"
        case ENFILE: "\(words); allow the whole system more of them (sysctl fs.file-max)"
        default: words
        }
    }
}
