// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// The version of netpath that a file is written for, as its key `version` says: `0.4` or `0.4.1`.
struct ConfigurationVersion: Hashable {
    static let key = "version"

    private let numbers: [Int]

    /// Reads a version; nil for what is none.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(part) : nil
        }
        // One number alone is the version of a format, in other programs' files.
        guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
        self.numbers = numbers + Array(repeating: 0, count: 3 - numbers.count)
    }

    /// Whether it is newer than the one that runs.
    var isNewer: Bool {
        guard let own = ConfigurationVersion(netPathVersion) else { return false }
        return own.numbers.lexicographicallyPrecedes(self.numbers)
    }

    /// Reads the key, and takes the files that are newer as such.
    static func read(
        from root: ConfigurationSection,
        _ documents: [(source: ConfigurationSource, root: ConfigurationNode)]
    ) {
        if let text = root.string(self.key), ConfigurationVersion(text) == nil {
            root.reject(self.key, "must be a version with two or three numbers, such as 0.4 or 0.4.1")
        } else if let text = root.string(self.key), ConfigurationVersion(text)?.isNewer == true {
            root.warn(self.key, "is newer than this netpath, \(netPathVersion): unknown keys are skipped")
        }
        let newer = documents.filter { document in
            document.root.value(of: self.key)?.text.flatMap(ConfigurationVersion.init)?.isNewer ?? false
        }
        root.takeAsNewer(Set(newer.map(\.source.name)))
    }
}
