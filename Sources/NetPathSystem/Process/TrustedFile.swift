// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetPath
import Glibc
import NetPath

/// A file that only root can have put there, and only root can replace.
package enum TrustedFile {
    /// Why no other file is executed, after "since".
    package static let reason =
        geteuid() == 0 ? "netpath runs as root" : "netpath runs with privileges, or as a service of the system"

    /// Opens a file, or a folder in which only root can put anything, having looked at every step of the way: root's, and
    /// writable by no one else.
    ///
    /// Symbolic links are followed step by step, so that their folders count too. What was looked at is what is returned,
    /// whatever becomes of the path afterwards.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - isFolder: Whether it has to be a folder, and not a regular file.
    /// - Returns: A descriptor, which a file can be executed by but not read (O_PATH).
    /// - Throws: Which step is not trusted, and what to do.
    package static func open(_ path: String, asFolder isFolder: Bool = false) throws(LaunchError) -> FileDescriptor {
        guard path.hasPrefix("/"), !path.utf8.contains(0)
        else {
            throw LaunchError("'\(path.printable(limit: 200))' has to be an absolute path, since \(Self.reason)")
        }
        guard var folder = FileDescriptor(unsafe netpath_open_step(AT_FDCWD, "/"))
        else { throw .last("cannot open /") }
        try Self.check(folder, "/")
        // The folders of the way back, and what is still to be walked, the next step last.
        var trail = [folder]
        var walked: [Substring] = []
        var steps = Array(path.split(separator: "/").reversed())
        var links = 0
        while let step = steps.popLast() {
            if step == "." { continue }
            if step == ".." {
                if trail.count > 1 {
                    trail.removeLast()
                    walked.removeLast()
                }
                folder = trail[trail.count - 1]
                continue
            }
            let name = "/" + (walked + [step]).joined(separator: "/")
            guard let file = FileDescriptor(unsafe netpath_open_step(folder.number, String(step)))
            else {
                let advice = errno == ENOENT ? "; check the path" : ""
                throw LaunchError("cannot open '\(name.printable(limit: 200))': \(SystemReason.text(errno))\(advice)")
            }
            let mode = try Self.check(file, name)
            switch mode & S_IFMT {
            case S_IFLNK:
                links += 1
                guard links <= 40, let target = FileAccess.linkTarget("", at: file.number)
                else { throw LaunchError("'\(name.printable(limit: 200))' is a symbolic link that leads nowhere") }
                if target.hasPrefix("/") {
                    trail = [trail[0]]
                    walked = []
                    folder = trail[0]
                }
                steps += target.split(separator: "/").reversed()
            case S_IFDIR:
                trail.append(file)
                walked.append(step)
                folder = file
            case S_IFREG where steps.isEmpty && !isFolder: return file
            case S_IFREG where steps.isEmpty: throw LaunchError("'\(name.printable(limit: 200))' is no folder")
            default: throw LaunchError("'\(name.printable(limit: 200))' is no regular file")
            }
        }
        if isFolder { return folder }
        throw LaunchError("'\(path.printable(limit: 200))' is a folder, not a program")
    }

    /// The first line of a script without its marks; nil for other programs.
    static func interpreter(of program: FileDescriptor) -> String? {
        guard let file = FileDescriptor(unsafe Glibc.open("/proc/self/fd/\(program.number)", O_RDONLY | O_CLOEXEC)),
            let head = file.read(limit: 256), head.starts(with: "#!".utf8)
        else { return nil }
        let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\t" }.first.map(String.init)
    }

    /// Whether a file is empty, or begins as a text without the mark of a script: the kernel executes none.
    ///
    /// What else it begins with may be a format of this machine's (binfmt_misc).
    static func isBareText(_ path: String) -> Bool {
        guard let file = FileDescriptor(unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)), let head = file.read(limit: 16)
        else { return false }
        let isText = head.allSatisfy { (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }
        return isText && !head.starts(with: "#!".utf8)
    }

    /// Whether a path names a regular file.
    package static func isRegular(_ path: String) -> Bool { FileAccess.status(path)?.isFile == true }

    @discardableResult
    private static func check(_ file: FileDescriptor, _ name: String) throws(LaunchError) -> mode_t {
        guard let status = file.status else { throw .last("cannot look at '\(name.printable(limit: 200))'") }
        guard status.st_uid == 0 else {
            throw LaunchError(
                "'\(name.printable(limit: 200))' belongs to another user than root; chown it to root, since \(Self.reason)"
            )
        }
        if status.isFolder, status.st_mode & S_ISVTX != 0, status.st_mode & 0o022 != 0 {
            throw LaunchError(
                """
                '\(name.printable(limit: 200))' is a folder in which every user may put files; use a folder of root's, such as \
                /usr/local/lib/netpath, since \(Self.reason)
                """
            )
        }
        // The mode of a symbolic link means nothing.
        guard status.st_mode & S_IFMT == S_IFLNK || status.st_mode & 0o022 == 0 else {
            throw LaunchError(
                "others than root can write to '\(name.printable(limit: 200))'; chmod go-w it, since \(Self.reason)"
            )
        }
        return status.st_mode
    }
}

/// Why a program cannot run, as a sentence for people.
package struct LaunchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence, without a final full stop.
    package var description: String

    /// Makes an error of a sentence.
    package init(_ description: String) {
        self.description = description
    }

    /// The failure of the call that was just made by this thread.
    static func last(_ action: String) -> LaunchError {
        LaunchError("\(action): \(SystemReason.text(errno))")
    }
}
