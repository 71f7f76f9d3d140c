// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A directory for one test, removed with its owner.
package final class TemporaryDirectory: Sendable {
    /// The absolute path.
    package let path: String

    /// Makes the directory.
    ///
    /// - Parameter parent: Where; nil for the system's folder of temporary files, which everybody can write.
    /// - Throws: When the system does not grant one.
    package init(in parent: String? = nil) throws {
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let directory = parent.appending(path: "netpath-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.path = directory.path()
    }

    deinit {
        Self.removeTree(at: self.path)
    }

    /// Removes a directory and all that is in it.
    static func removeTree(at path: String) {
        // An attempt ends where something is gone that was there: what ends meanwhile removes files of its own.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: path) {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The absolute path of something inside.
    package subscript(_ name: String) -> String { "\(self.path)/\(name)" }

    /// Writes a file in place, making its directory.
    package func write(_ name: String, _ text: String) throws {
        let url = URL(filePath: self[name])
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Writes a new file and renames it over the old one.
    package func replace(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: self[name]), options: .atomic)
    }

    /// Makes a directory inside, and those above it.
    package func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
    }

    /// Makes a symbolic link; its target is stored as written.
    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self[name], withDestinationPath: target)
    }

    /// Puts a new symbolic link in the place of an old one.
    package func relink(_ name: String, to target: String) throws {
        try self.link("\(name).new", to: target)
        try self.remove(name)
        try self.move("\(name).new", to: name)
    }

    /// Removes something inside, directories with all they hold.
    package func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: self[name])
    }

    /// Renames something inside.
    package func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: self[name], toPath: self[other])
    }
}
