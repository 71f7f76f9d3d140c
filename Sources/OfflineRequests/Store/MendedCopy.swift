// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

/// A copy of a damaged database whose header is as it must be, so that one wrong bit there does not hide every request.
///
/// Nothing of the header of a queue is unknown but how many pages there are, which the length of the file says
/// (https://sqlite.org/fileformat.html).
struct MendedCopy {
    /// SQLite's usual size, which every queue has.
    private static let pageSize = 4096

    /// The copy.
    let path: String

    /// Makes a copy, with its journal, while no other process is at the file.
    ///
    /// To open the file drops the locks that this process has on it by SQLite, which nothing needs any more.
    init(of paths: StorePaths) throws {
        self.path = "\(paths.database)-mended"
        self.remove()
        for suffix in ["", "-wal"] where StoreFiles.identity(paths.database + suffix) != nil {
            try FileManager.default.copyItem(atPath: paths.database + suffix, toPath: self.path + suffix)
        }
        let file = try FileHandle(forUpdating: URL(filePath: self.path))
        defer { try? file.close() }
        let pages = (Int(try file.seekToEnd()) + Self.pageSize - 1) / Self.pageSize
        // What is missing of the last page reads as zeroes.
        try file.truncate(atOffset: UInt64(max(1, pages) * Self.pageSize))
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Self.header(pages: max(1, pages)))
    }

    func remove() {
        for suffix in [""] + StorePaths.companions { StoreFiles.remove(self.path + suffix) }
    }

    private static func header(pages: Int) -> Data {
        func number(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var header = Data("SQLite format 3\0".utf8)
        // The size of pages, WAL for readers and writers, nothing reserved, and fractions that are fixed.
        header += [UInt8(self.pageSize >> 8), 0, 2, 2, 0, 64, 32, 32]
        // The count of changes, by which the number of pages counts; no free pages, which only a writer needs.
        header += number(1) + number(pages) + number(0) + number(0)
        // The schema's count and format, the cache, no vacuum, UTF-8.
        header += number(1) + number(4) + number(0) + number(0) + number(1)
        header += number(StoreSchema.version) + number(0) + number(Int(StoreSchema.applicationID))
        header += [UInt8](repeating: 0, count: 20)
        return header + number(1) + number(3_040_001)
    }
}
