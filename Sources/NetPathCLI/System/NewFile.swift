// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A file for its owner alone, that is never written over.
enum NewFile {
    /// Makes a file and writes it; one that cannot be written whole does not stay.
    ///
    /// - Throws: `SystemError`, also when there is such a file.
    static func write(
        _ text: String,
        to path: String,
        mode: mode_t = 0o600,
        isDurable: Bool = false
    ) throws(SystemError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        guard let file = FileDescriptor(unsafe open(path, flags, mode)) else { throw .last("cannot create \(path)") }
        do throws(SystemError) {
            // Whatever the umask: who may read it is the caller's to say.
            guard fchmod(file.number, mode) == 0 else { throw SystemError.last("cannot set the mode of \(path)") }
            try file.writeAll(Array(text.utf8), or: "cannot write \(path)")
            if isDurable, fsync(file.number) != 0 { throw SystemError.last("cannot flush \(path) to the disk") }
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    /// Replaces a file, atomically.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - text: What becomes its content.
    ///   - mode: Who may read it.
    ///   - isDurable: Whether it is on the disk when this returns, whole, even if the power is cut right after it.
    /// - Throws: `SystemError`.
    static func replace(
        _ path: String,
        with text: String,
        mode: mode_t = 0o644,
        isDurable: Bool = false
    ) throws(SystemError) {
        // Beside it, where it can be renamed; collectors read only names that end in .prom.
        let temporary = "\(path).\(getpid())"
        _ = unsafe unlink(temporary)
        try self.write(text, to: temporary, mode: mode, isDurable: isDurable)
        guard unsafe rename(temporary, path) == 0 else {
            let error = SystemError.last("cannot write \(path)")
            _ = unsafe unlink(temporary)
            throw error
        }
        guard isDurable, let slash = path.lastIndex(of: "/") else { return }
        let folder = FileDescriptor(unsafe open(String(path[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if folder.map({ fsync($0.number) != 0 }) ?? true { throw .last("cannot flush \(path) to the disk") }
    }
}

extension StandardStreams {
    /// Whether standard input is a terminal, whose user can be asked.
    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks a question on standard error; anything but yes is no.
    static func confirm(_ question: String) -> Bool {
        self.writeMessage("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
