// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

internal import Glibc
package import NetPath
internal import NetPathSystem

/// Reads a configuration file from disk, however unsuitable the file.
///
/// Nothing but a regular file of a sensible size is read: a named pipe would block, `/dev/zero` never ends, and a log
/// file named by mistake would fill the memory.
package enum ConfigurationFile: Sendable {
    /// The greatest size of a configuration file in bytes.
    static let sizeLimit = 1 << 20

    /// Reads a file.
    ///
    /// - Parameter path: The path; a relative one starts at the working directory.
    /// - Returns: The content with the path as its name.
    /// - Throws: What is wrong with the file and what to do about it.
    package static func read(_ path: String) throws(ConfigurationError) -> ConfigurationSource {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw failure(path.isEmpty ? "(no file)" : path, "the path is empty or holds a NUL; name a file")
        }
        // O_NONBLOCK: opening a named pipe waits for a writer otherwise. It has no effect on regular files.
        var opened: FileDescriptor?
        repeat {
            opened = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
        } while opened == nil && errno == EINTR
        guard let file = opened else { throw failure(path, openProblem(path, code: errno)) }

        guard let status = file.status else { throw failure(path, unreadable(code: errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw failure(path, "is a directory; name a file in it, such as \(path)/netpath.yaml")
        case S_IFIFO: throw failure(path, "is a named pipe; name a regular file")
        default: throw failure(path, "is a device; name a regular file")
        }
        guard status.st_size <= sizeLimit else { throw tooLarge(path) }

        // The size above is a hint only: files grow, and those of /proc claim to be empty.
        var bytes: [UInt8] = []
        while bytes.count <= sizeLimit {
            guard let chunk = file.read(limit: 65_536) else {
                if errno == EINTR { continue }
                throw failure(path, unreadable(code: errno))
            }
            if chunk.isEmpty {
                var source = ConfigurationSource(name: path, bytes: bytes)
                if status.st_uid != 0 || status.st_mode & 0o022 != 0 {
                    source.otherAuthor = "a file that others than root can write to"
                }
                return source
            }
            bytes += chunk
        }
        throw tooLarge(path)
    }

    /// Tells whether a path may name a file.
    ///
    /// A dangling symbolic link counts as a file, and so does what a closed directory may hold: both were put there
    /// by a user who expects them to be read, and reading them says what is wrong.
    ///
    /// - Parameter path: The path.
    /// - Returns: `false` only when there is certainly nothing.
    package static func mayExist(_ path: String) -> Bool {
        FileAccess.exists(path) || (errno != ENOENT && errno != ENOTDIR)
    }

    // MARK: Problems

    private static func openProblem(_ path: String, code: CInt) -> String {
        switch code {
        case ENOENT where mayExist(path): "is a symbolic link to a file that does not exist; point it to one that does"
        case ENOENT, ENOTDIR: "does not exist; check the path ('config default' prints a file to start from)"
        case EACCES: "cannot be read: permission denied; let this user read it and enter the directories above it"
        case ENXIO: "is a socket or a device; name a regular file"
        default: "cannot be opened: \(SystemReason.text(code))"
        }
    }

    private static func tooLarge(_ path: String) -> ConfigurationError {
        failure(path, "is larger than 1 MiB, which no configuration needs; is it the right file?")
    }

    private static func failure(_ path: String, _ message: String) -> ConfigurationError {
        ConfigurationError(ConfigurationDiagnostic(origin: path, message: message))
    }

    private static func unreadable(code: CInt) -> String { "cannot be read: \(SystemReason.text(code))" }
}
