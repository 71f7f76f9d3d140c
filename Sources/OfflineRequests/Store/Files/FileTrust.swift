// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Who else could have put a file where it is, and whose it becomes; every system call by path or of a new file.
enum FileTrust {
    /// The path of a file without symbolic links: a queue has one name, and so its locks have one place.
    ///
    /// - Throws: ``QueueError/notTrusted(path:reason:)`` for a link that somebody else could have made.
    static func resolve(_ path: String) throws(QueueError) -> String {
        var path = path
        // As many as Linux follows.
        for _ in 0..<40 {
            let folder = self.resolve(folder: StorePaths(path).folder)
            path = (folder == "/" ? "" : folder) + path[(path.lastIndex(of: "/") ?? path.startIndex)...]
            guard let status = self.status(path), status.st_mode & S_IFMT == S_IFLNK else { return path }
            guard let parent = self.status(folder), !self.isWritableByOthers(parent), self.isOurs(parent) else {
                throw .notTrusted(
                    path: path,
                    reason: "this is a symbolic link in a folder that others can write; name the file itself"
                )
            }
            guard let target = self.target(of: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        throw .io(path: path, reason: unsafe String(cString: strerror(ELOOP)))
    }

    /// Makes sure that nobody else could have written a queue, or could use it under another name.
    static func check(_ paths: StorePaths) throws(QueueError) {
        let names = [paths.database, paths.lock, QueueFile.senderLock(of: paths.database)]
        for path in names + StorePaths.companions.map({ paths.database + $0 }) {
            guard let status = self.status(path), status.st_mode & S_IFMT == S_IFREG else { continue }
            if status.st_nlink > 1 {
                throw .notTrusted(
                    path: path,
                    reason: "this file has \(status.st_nlink) names (hard links), under which it could be used twice "
                        + "at the same time; remove the others"
                )
            }
            // Root may look after the file of a user in the folder of that user.
            let isTrusted = self.isOurs(status) || geteuid() == 0 && self.status(paths.folder)?.st_uid == status.st_uid
            guard isTrusted else {
                throw .notTrusted(
                    path: path,
                    reason: "this file belongs to another user (\(status.st_uid)); name another, or if it is yours: "
                        + "sudo chown \(geteuid()) '\(path)'"
                )
            }
            if self.isWritableByOthers(status) {
                throw .notTrusted(
                    path: path,
                    reason: "others can write this file; if what is in it is yours: chmod 600 '\(path)'"
                )
            }
        }
    }

    /// Gives what root has made in the folder of a user to that user, who would be locked out otherwise.
    static func giveToOwnerOfFolder(_ descriptor: FileDescriptor, _ path: String) {
        var status = stat()
        guard geteuid() == 0, let folder = self.status(StorePaths(path).folder), folder.st_uid != 0,
            unsafe fstat(descriptor.number, &status) == 0, status.st_uid == 0,
            // A name of a file that was root's before would give that away.
            status.st_mode & S_IFMT == S_IFDIR || status.st_nlink == 1
        else { return }
        _ = fchown(descriptor.number, folder.st_uid, folder.st_gid)
    }

    private static func isOurs(_ status: stat) -> Bool { status.st_uid == geteuid() }

    /// The group of one's own is nobody else: with a mask of 002 it may write everything.
    private static func isWritableByOthers(_ status: stat) -> Bool {
        status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && status.st_gid != getegid()
    }

    /// What is under a path, a symbolic link itself.
    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func resolve(folder: String) -> String {
        if let path = unsafe realpath(folder, nil) {
            defer { unsafe free(path) }
            return unsafe String(cString: path)
        }
        guard folder != "/", folder != "." else { return folder }
        let parent = self.resolve(folder: StorePaths(folder).folder)
        return (parent == "/" ? "" : parent) + folder[(folder.lastIndex(of: "/") ?? folder.startIndex)...]
    }

    private static func target(of path: String) -> String? {
        var octets = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink(path, &octets, octets.count)
        return length > 0 ? String(decoding: octets.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
