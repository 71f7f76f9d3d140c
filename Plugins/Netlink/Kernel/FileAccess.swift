// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Reading of small files and directories, never following surprises: bounded sizes, no blocking.
enum FileAccess {
    /// Reads a file; nil when it cannot be read.
    static func contents(_ path: String, limit: Int = 65_536) -> String? {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else { return nil }
        var octets: [UInt8] = []
        while octets.count < limit, let part = file.read(limit: min(4096, limit - octets.count)), !part.isEmpty {
            octets += part
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Whether something exists at a path; a symbolic link counts by itself.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Where a symbolic link points; nil when the path is none.
    static func linkTarget(_ path: String) -> String? {
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            let result = unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                unsafe characters.baseAddress.map { unsafe readlink(path, $0, characters.count) } ?? -1
            }
            count = max(result, 0)
        }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    /// The names in a directory; empty when it cannot be read.
    static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
