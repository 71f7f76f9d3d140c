// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A folder that is made with its files, and never written over.
struct NewFolder {
    /// A file in it.
    struct File {
        /// Its path within the folder.
        var path: String
        var text: String
        var isProgram = false
    }

    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Makes the folder, the folders in it, and the files.
    ///
    /// - Throws: `SystemError` when there is such a folder, or one cannot be made.
    func write(_ files: [File]) throws(SystemError) {
        guard unsafe mkdir(self.path, 0o777) == 0 else { throw .last("cannot make the folder \(self.path)") }
        for file in files {
            var folder = self.path
            for part in file.path.split(separator: "/").dropLast() {
                folder += "/\(part)"
                guard unsafe mkdir(folder, 0o777) == 0 || errno == EEXIST else {
                    throw .last("cannot make the folder \(folder)")
                }
            }
            let mode: mode_t = file.isProgram ? 0o755 : 0o644
            try NewFile.write(file.text, to: "\(self.path)/\(file.path)", mode: mode)
        }
    }
}
