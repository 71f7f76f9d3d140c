// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CBuildFacts
import NetPathConfiguration

/// What the program is made of, for `--version` and whoever reports an error.
enum BuildFacts {
    /// The version of netpath.
    static let version = "0.1.0"

    /// The commit, `-dirty` when there were changes on top of it; `unknown` when it was not built by the Makefile.
    static let commit = unsafe String(cString: netpath_commit())

    private static var compiler: String {
        #if compiler(>=6.4)
        "Swift 6.4 or newer"
        #elseif compiler(>=6.3)
        "Swift 6.3"
        #else
        "Swift 6.2"
        #endif
    }

    private static var configuration: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }

    /// The text of `--version`: the first line is for programs.
    static var text: String {
        """
        netpath \(self.version)
        commit \(self.commit)
        built with \(self.compiler), \(self.configuration)
        \(linkedLibraries.joined(separator: ", "))
        """
    }

    /// The document of `--version --json`.
    static var document: JSONValue {
        [
            "schema": schemaVersion,
            "version": .string(self.version),
            "commit": .string(self.commit),
            "compiler": .string(self.compiler),
            "configuration": .string(self.configuration),
            "libraries": .strings(linkedLibraries),
        ]
    }
}
