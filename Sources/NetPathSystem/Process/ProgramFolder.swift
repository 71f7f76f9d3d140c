// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// A folder of programs, such as run-parts(8) runs.
package struct ProgramFolder: Hashable, Sendable {
    /// The absolute paths of the programs, in the order of their names.
    package private(set) var programs: [String] = []
    /// Why files were skipped that look like programs, a sentence each.
    package private(set) var remarks: [String] = []

    /// Looks into a folder: its programs are the executable regular files whose names are letters, digits, hyphens and
    /// underscores, so that no backup of an editor or a package manager is one.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the folder.
    ///   - allowsExtensions: Whether names may have full stops too, such as `20-x.sh`, but for those of backups.
    ///   - isPrivileged: Whether only root may be able to put anything there.
    /// - Throws: ``LaunchError`` when it cannot be read, or others can write to it.
    package init(
        _ path: String,
        allowsExtensions: Bool = false,
        isPrivileged: Bool = Privileges.trustOnlyRoot
    ) throws(LaunchError) {
        let trusted = isPrivileged ? try TrustedFile.open(path, asFolder: true) : nil
        guard let names = FileAccess.unsortedNames(in: trusted.map { "/proc/self/fd/\($0.number)" } ?? path)
        else { throw .last("cannot read the folder '\(path.printable(limit: 200))'") }
        for name in names.sorted() where !name.hasPrefix(".") {
            let program = "\(path)/\(name)"
            let shown = "'\(program.printable(limit: 200))'"
            let isBackup = Self.backups.contains { name.hasSuffix($0) } || name.contains(".dpkg-")
            let stem = allowsExtensions && !isBackup ? String(name.filter { $0 != "." }) : name
            if !Self.isName(stem) {
                self.remarks.append("\(shown) is skipped: its name has more than letters, digits, - and _")
            } else if !TrustedFile.isRegular(program) {
                self.remarks.append("\(shown) is skipped: it is not a regular file")
            } else if unsafe access(program, X_OK) != 0 {
                self.remarks.append("\(shown) is skipped: it is not executable (chmod +x)")
            } else {
                self.programs.append(program)
            }
        }
    }

    private static let backups = [".bak", ".orig", ".rpmnew", ".rpmorig", ".rpmsave", ".swp"]

    /// Whether a name is one that run-parts(8) takes.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(\.isPlain)
    }
}
