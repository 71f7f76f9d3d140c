// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetPath
import NetPathConfiguration
import NetPathSystem

/// What a program is made of, for `--version` and bug reports.
package struct BuildFacts: Sendable {
    /// What the program is called.
    private let program: String
    /// The C libraries it runs with, and their versions.
    private let libraries: [String]

    /// Those of netpath itself.
    static let netpath = BuildFacts(program: ToolContext.usualName)

    /// Names what a program has besides.
    package init(program: String, libraries: [String] = []) {
        self.program = program
        self.libraries = linkedLibraries + libraries
    }

    /// The commit, `-dirty` when there were changes on top of it; `unknown` when it was not built by the Makefile.
    private static let commit = unsafe String(cString: netpath_commit())

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
    package var text: String {
        """
        \(self.program) \(netPathVersion)
        commit \(Self.commit)
        built with \(Self.compiler), \(Self.configuration)
        \(self.libraries.joined(separator: ", "))
        """
    }

    /// The document of `--version --json`.
    var document: JSONNode {
        [
            "schema": schemaVersion,
            "version": .string(netPathVersion),
            "commit": .string(Self.commit),
            "compiler": .string(Self.compiler),
            "configuration": .string(Self.configuration),
            "libraries": .strings(self.libraries),
        ]
    }
}
