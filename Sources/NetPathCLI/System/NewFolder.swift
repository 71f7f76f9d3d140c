// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A folder that is made with its files, and never written over.
enum NewFolder {
    /// A file in it.
    struct File {
        /// Its path within the folder.
        var path: String
        var text: String
        var isProgram = false
    }

    /// Makes the folder, the folders in it, and the files.
    ///
    /// - Throws: `SystemError` when there is such a folder, or one cannot be made.
    static func write(_ files: [File], to path: String) throws(SystemError) {
        guard unsafe mkdir(path, 0o777) == 0 else { throw .last("cannot make the folder \(path)") }
        for file in files {
            var folder = path
            for part in file.path.split(separator: "/").dropLast() {
                folder += "/\(part)"
                guard unsafe mkdir(folder, 0o777) == 0 || errno == EEXIST else {
                    throw .last("cannot make the folder \(folder)")
                }
            }
            let mode: mode_t = file.isProgram ? 0o755 : 0o644
            try NewFile.write(file.text, to: "\(path)/\(file.path)", mode: mode)
        }
    }
}
