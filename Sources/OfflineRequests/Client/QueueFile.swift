// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathSystem

enum QueueFile {
    /// The file of an application that names none: ``OfflineRequestQueue/standardFile(application:)``.
    static func standard(
        application: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(QueueError) -> String {
        let name = application ?? self.executable
        let isForbidden = { (byte: UInt8) in byte < 0x20 || byte == UInt8(ascii: "/") }
        guard 1...200 ~= name.utf8.count, !name.utf8.contains(where: isForbidden) else {
            throw .io(path: name, reason: "this cannot be an application's identifier; take one like org.example.mail")
        }
        // Relative paths are invalid, says the XDG Base Directory Specification, and ignored.
        let absolute = { (path: String?) in path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let data = absolute(environment["XDG_DATA_HOME"]) { return "\(data)/netpath/requests/\(name).sqlite" }
        // `NSHomeDirectory()` may take a relative HOME, which is another folder wherever the program runs.
        guard let home = absolute(environment["HOME"]) ?? NSHomeDirectoryForUser(NSUserName()) else {
            throw .io(path: name, reason: "this user has no home folder for the queue; set HOME, or name a file")
        }
        return "\(home)/.local/share/netpath/requests/\(name).sqlite"
    }

    /// The name of the program, also where it was replaced since it started.
    private static var executable: String {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let name = path?.split(separator: "/").last.map { String($0) } ?? ProcessInfo.processInfo.processName
        let removed = " (deleted)"
        return name.hasSuffix(removed) ? String(name.dropLast(removed.count)) : name
    }

    /// The one path of a queue, whatever name leads to it: it has one name, and so its locks have one place.
    ///
    /// - Throws: ``QueueError/notTrusted(path:reason:)`` for a link that another user could have made.
    static func path(of file: String?, application: String?) throws(QueueError) -> String {
        let name = if let file { file } else { try self.standard(application: application) }
        var url = URL(fileURLWithPath: name).standardizedFileURL
        // As many as Linux follows.
        for _ in 0..<40 {
            let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
            let path = folder.appendingPathComponent(url.lastPathComponent).path
            guard let target = FileAccess.linkTarget(path) else { return path }
            guard FileTrust.isPrivate(folder: folder.path) else {
                throw .notTrusted(
                    path: path,
                    reason: "this is a symbolic link in a folder that others can write; name the file itself"
                )
            }
            url = URL(fileURLWithPath: target.hasPrefix("/") ? target : "\(folder.path)/\(target)")
        }
        throw .io(path: name, reason: SystemReason.text(ELOOP))
    }

    /// The file whose lock says who sends.
    static func senderLock(of file: String) -> String { "\(file)-sender" }
}
