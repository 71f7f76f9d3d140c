// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// Where a queue is, and what lies beside it.
enum QueueFile {
    /// The file of applications that name none.
    ///
    /// - Parameter environment: The variables `XDG_DATA_HOME` and `HOME`.
    /// - Returns: `netpath/queue.sqlite` in the folder for data of the user (XDG Base Directory Specification).
    static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        // Relative paths are invalid, says the specification, and ignored.
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = data ?? "\(environment["HOME"] ?? NSHomeDirectory())/.local/share"
        return "\(folder)/netpath/queue.sqlite"
    }

    /// The one path of a queue, whatever name leads to it.
    ///
    /// - Parameter file: The name that was given; nil for ``standard(environment:)``.
    /// - Returns: The path without symbolic links.
    /// - Throws: ``QueueError/notTrusted(path:reason:)`` where others could have put it there.
    static func path(of file: String?) throws(QueueError) -> String {
        try FileTrust.resolve(URL(fileURLWithPath: file ?? self.standard()).standardizedFileURL.path)
    }

    /// The file whose lock says who sends.
    static func senderLock(of file: String) -> String { "\(file)-sender" }
}
