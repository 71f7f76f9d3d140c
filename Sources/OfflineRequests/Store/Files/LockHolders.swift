// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Which processes have locks on a file, for people who wait for them (`proc_locks(5)`).
enum LockHolders {
    /// The holders of locks on files, as a sentence begins; not this process.
    static func text(of paths: [String]) -> String {
        let names = self.names(of: paths)
        guard !names.isEmpty else { return "another process has" }
        return "\(names.prefix(3).joined(separator: ", ")) \(names.count == 1 ? "has" : "have")"
    }

    /// The holders of locks on files; not this process.
    static func names(of paths: [String]) -> [String] {
        let numbers = Set(paths.compactMap { StoreFiles.identity($0)?.number })
        let file = FileDescriptor(unsafe open("/proc/locks", O_RDONLY | O_CLOEXEC))
        var locks: [UInt8] = []
        // A page at a time, whatever is asked for.
        while let piece = file?.read(limit: 1 << 16), !piece.isEmpty { locks += piece }
        var names: [String] = []
        for line in String(decoding: locks, as: UTF8.self).split(separator: "\n") {
            // 1: FLOCK ADVISORY WRITE 4711 00:2a:123456 0 EOF; one that waits has an arrow behind the number.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] != "->", let process = Int32(words[4]), process != getpid(),
                let number = words[5].split(separator: ":").last.flatMap({ UInt64($0) }), numbers.contains(number)
            else { continue }
            let name = "process \(process)\(self.program(process).map { " (\($0))" } ?? "")"
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func program(_ process: Int32) -> String? {
        let file = FileDescriptor(unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC))
        return file?.read(limit: 64).map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
    }
}
