// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Who else could have put a file where it is, and whose it becomes.
enum FileTrust {
    /// Makes sure that a queue is a file that no other user could have written, or could use under another name.
    ///
    /// - Returns: How long it is; nil where there is none.
    @discardableResult
    static func check(_ paths: StorePaths) throws(QueueError) -> Int? {
        let names = [
            paths.database, paths.lock, paths.reserve, paths.rollback, paths.replacement, paths.unfinished,
            QueueFile.senderLock(of: paths.database),
        ]
        for path in names + StorePaths.companions.map({ paths.database + $0 }) {
            guard let status = try StoreFiles.status(path) else { continue }
            guard status.isFile else {
                if path == paths.database { continue }
                throw .notTrusted(
                    path: path,
                    reason: "this is no regular file, and the queue keeps one there; remove it"
                )
            }
            if status.st_nlink > 1 {
                let reason =
                    "this file has \(status.st_nlink) names (hard links), under which it could be used "
                    + "twice at the same time; remove the others"
                throw .notTrusted(path: path, reason: reason)
            }
            try self.checkOwner(of: path, status, in: paths.folder)
        }
        guard let status = try StoreFiles.status(paths.database, following: true) else { return nil }
        if status.isFolder { throw .isDirectory(path: paths.database) }
        guard status.isFile else { throw .notAQueue(path: paths.database) }
        guard status.st_size == 1 else { return Int(status.st_size) }
        // SQLite takes a single byte for an empty database, and would write over it (`unixFileSize` of os_unix.c).
        guard try paths.hasRemains else { throw .notAQueue(path: paths.database) }
        return 0
    }

    /// Makes sure that a folder beside a queue is none that another user has put there, nor a symbolic link to one.
    static func checkFolder(_ path: String) throws(QueueError) {
        guard let status = try StoreFiles.status(path), status.isFolder else {
            let reason = "this is no folder, or a symbolic link, and the queue keeps a folder of that name; remove it"
            throw .notTrusted(path: path, reason: reason)
        }
        try self.checkOwner(of: path, status, in: StorePaths(path).folder)
    }

    private static func checkOwner(of path: String, _ status: stat, in folder: String) throws(QueueError) {
        let kind = status.isFolder ? "folder" : "file"
        // Root may look after what a user has in a folder of that user.
        let owner = try geteuid() == 0 ? StoreFiles.status(folder)?.st_uid : nil
        if !self.isOurs(status), owner != status.st_uid {
            let reason =
                "this \(kind) belongs to another user (\(status.st_uid)); name another queue, or if "
                + "it is yours: sudo chown \(geteuid()) '\(path)'"
            throw .notTrusted(path: path, reason: reason)
        }
        if self.isWritableByOthers(status) {
            let mode = status.isFolder ? "700" : "600"
            let reason = "others can write this \(kind); if what is in it is yours: chmod \(mode) '\(path)'"
            throw .notTrusted(path: path, reason: reason)
        }
    }

    /// Whether only this user can put something into a folder.
    static func isPrivate(folder: String) -> Bool {
        guard let status = try? StoreFiles.status(folder) else { return false }
        return self.isOurs(status) && !self.isWritableByOthers(status)
    }

    /// Gives what root has made in the folder of a user to that user, who would be locked out otherwise.
    static func giveToOwnerOfFolder(_ descriptor: FileDescriptor, _ path: String) {
        guard geteuid() == 0, let folder = try? StoreFiles.status(StorePaths(path).folder), folder.st_uid != 0,
            let status = descriptor.status, status.st_uid == 0,
            // A name of a file that was root's before would give that away.
            status.isFolder || status.st_nlink == 1
        else { return }
        _ = fchown(descriptor.number, folder.st_uid, folder.st_gid)
    }

    private static func isOurs(_ status: stat) -> Bool { status.st_uid == geteuid() }

    /// The user's own group counts as the user: with a mask of 002 it may write everything.
    private static func isWritableByOthers(_ status: stat) -> Bool {
        status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && status.st_gid != getegid()
    }
}
