// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// Reading of small files and directories, never following surprises: bounded sizes, no blocking.
package enum FileAccess {
    /// Reads a file; nil when it cannot be read.
    package static func contents(_ path: String, limit: Int = 65_536) -> String? {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < limit, let part = file.read(limit: min(4096, limit - bytes.count)), !part.isEmpty {
            bytes += part
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the file that could just not be read lacked a descriptor or memory: it may be read later.
    package static var lackedResources: Bool { [EMFILE, ENFILE, ENOMEM].contains(errno) }

    /// Whether a path is a file that this process's user owns and no other user may write; for a process that is not root's, the
    /// user that owns the folder may own it, too.
    package static func isOwn(_ path: String, in folder: String) -> Bool {
        guard let file = self.status(path, following: false), file.isFile else { return false }
        guard file.st_mode & (S_IWGRP | S_IWOTH) == 0 else { return false }
        let user = geteuid()
        if file.st_uid == user { return true }
        guard user != 0, let place = self.status(folder, following: false) else { return false }
        return place.st_uid == file.st_uid && place.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// Whether something exists at a path; a symbolic link counts by itself.
    package static func exists(_ path: String) -> Bool { self.status(path, following: false) != nil }

    /// Where a symbolic link points; nil when the path is none.
    ///
    /// - Parameters:
    ///   - path: The link; empty for one that is open.
    ///   - folder: The folder where a relative path begins, or that link.
    /// - Returns: The target.
    package static func linkTarget(_ path: String, at folder: Int32? = nil) -> String? {
        let folder = folder ?? AT_FDCWD
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let result = unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                unsafe characters.baseAddress.map { unsafe readlinkat(folder, path, $0, characters.count) } ?? -1
            }
            count = max(result, 0)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The absolute path of a file or folder that exists, without symbolic links.
    ///
    /// - Throws: `SystemError` when it does not.
    package static func absolute(_ path: String) throws(SystemError) -> String {
        guard let result = unsafe realpath(path, nil) else { throw .last("cannot find \(path)") }
        defer { unsafe free(result) }
        return unsafe String(cString: result)
    }

    /// The names in a directory; empty when it cannot be read.
    package static func names(in path: String) -> [String] { (self.unsortedNames(in: path) ?? []).sorted() }

    /// The names in a directory whose path is below another one; nil when it cannot be read, errno tells why.
    package static func unsortedNames(in path: String, of directory: FileDescriptor? = nil) -> [String]? {
        let number = unsafe openat(directory?.number ?? AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        guard let stream = unsafe fdopendir(number) else {
            _ = close(number)
            return nil
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Makes a folder, and those above it as the XDG Base Directory Specification asks for: for this user alone.
    ///
    /// - Throws: `SystemError`; a folder that is there already is none.
    package static func makeFolder(_ path: String) throws(SystemError) {
        var above = path[...]
        var missing: [String] = []
        while let slash = above.dropLast().lastIndex(of: "/"), slash > above.startIndex {
            above = above[..<slash]
            if Self.exists(String(above)) { break }
            missing.append(String(above))
        }
        for folder in missing.reversed() { _ = unsafe mkdir(folder, 0o700) }
        guard unsafe mkdir(path, 0o750) == 0 || errno == EEXIST else { throw .last("cannot make the folder \(path)") }
    }
}
