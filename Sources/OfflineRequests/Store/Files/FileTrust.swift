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
            guard let status = StoreFiles.status(path) else { continue }
            guard status.isFile else {
                if path == paths.database { continue }
                throw .notTrusted(
                    path: path,
                    reason: "this is no regular file, and the queue keeps one there; remove it"
                )
            }
            // Root may look after the file of a user in the folder of that user.
            let isTrusted =
                self.isOurs(status) || geteuid() == 0 && StoreFiles.status(paths.folder)?.st_uid == status.st_uid
            let fault: String? =
                if status.st_nlink > 1 {
                    "this file has \(status.st_nlink) names (hard links), under which it could be used twice at the "
                        + "same time; remove the others"
                } else if !isTrusted {
                    "this file belongs to another user (\(status.st_uid)); name another, or if it is yours: "
                        + "sudo chown \(geteuid()) '\(path)'"
                } else if self.isWritableByOthers(status) {
                    "others can write this file; if what is in it is yours: chmod 600 '\(path)'"
                } else {
                    nil
                }
            if let fault { throw .notTrusted(path: path, reason: fault) }
        }
        guard let status = try StoreFiles.target(paths.database) else { return nil }
        if status.isFolder { throw .isDirectory(path: paths.database) }
        guard status.isFile else { throw .notAQueue(path: paths.database) }
        guard status.st_size == 1 else { return Int(status.st_size) }
        // SQLite takes a single byte for an empty database, and would write over it (`unixFileSize` of os_unix.c).
        guard paths.hasRemains else { throw .notAQueue(path: paths.database) }
        return 0
    }

    /// Whether a path is a folder, and no symbolic link to one.
    static func isFolder(_ path: String) -> Bool {
        StoreFiles.status(path)?.isFolder ?? false
    }

    /// Whether only this user can put something into a folder.
    static func isPrivate(folder: String) -> Bool {
        StoreFiles.status(folder).map { self.isOurs($0) && !self.isWritableByOthers($0) } ?? false
    }

    /// Gives what root has made in the folder of a user to that user, who would be locked out otherwise.
    static func giveToOwnerOfFolder(_ descriptor: FileDescriptor, _ path: String) {
        guard geteuid() == 0, let folder = StoreFiles.status(StorePaths(path).folder), folder.st_uid != 0,
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
