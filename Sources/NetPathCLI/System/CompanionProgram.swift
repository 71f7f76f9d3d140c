// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// A program that belongs to this one and is installed with it.
struct CompanionProgram: Hashable, Sendable {
    /// Where it may be, the likeliest place first.
    var places: [String]

    /// Looks beside a running program, in the folder of its helpers, and in the search path.
    ///
    /// - Parameters:
    ///   - name: The file name.
    ///   - executable: The absolute path of the running program; nil when the system does not tell.
    ///   - searchPath: `$PATH`.
    init(_ name: String, executable: String?, searchPath: String?) {
        let folder = executable.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        let beside = folder.map { ["\($0)/\(name)", "\($0)/../libexec/netpath/\(name)"] } ?? []
        // A relative entry would run whatever lies in the folder one happens to be in.
        let found = (searchPath ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        self.places = beside + found
    }

    /// Becomes that program; returns only when it is nowhere to be found.
    ///
    /// - Parameters:
    ///   - program: The name it is called by.
    ///   - arguments: Its arguments.
    /// - Throws: `SystemError` when the system cannot execute what is there.
    func execute(as program: String, _ arguments: [String]) throws(SystemError) {
        let words = unsafe ([program] + arguments).map { unsafe strdup($0) }
        defer { for index in 0...arguments.count { unsafe free(words[index]) } }
        for place in self.places {
            unsafe execv(place, words + [nil])
            if errno != ENOENT, errno != ENOTDIR, errno != EACCES { throw .last("cannot execute \(place)") }
        }
    }

    /// The first place with something that the system would execute; nil when there is none.
    var place: String? { self.places.first { unsafe access($0, X_OK) == 0 } }

    /// The absolute path of the running program; nil when the system does not tell.
    static var runningProgram: String? { FileAccess.linkTarget("/proc/self/exe") }

    /// A program that is installed with the running one.
    static func installed(_ name: String, environment: [String: String]) -> CompanionProgram {
        CompanionProgram(name, executable: Self.runningProgram, searchPath: environment["PATH"])
    }

    /// Whether the program that handles requests was there when it was looked for first.
    static let isQueueInstalled = installed("netpath-queue", environment: processEnvironment()).place != nil
}

extension ToolContext {
    /// Becomes a program that is installed with the running one, with the command line as it is.
    ///
    /// - Parameters:
    ///   - name: The program.
    ///   - subject: What takes it.
    /// - Throws: ``ToolFailure`` when it cannot be executed.
    func become(_ name: String, for subject: String = "this") throws -> Never {
        let program = CompanionProgram.installed(name, environment: self.environment)
        try program.execute(as: self.name, self.arguments)
        throw ToolFailure(
            .failure,
            """
            \(subject) takes the program \(name), which is missing or cannot be executed: looked for \
            \(program.places.prefix(2).joined(separator: ", ")), and in the folders of PATH. 'make build' makes it in a \
            checkout, and 'make install' installs it beside \(self.name).
            """
        )
    }
}

/// Carries out the running command by another program, with the command line as it is.
///
/// - Throws: ``ToolFailure`` when that is not installed.
func executeCompanion(_ name: String) throws -> ToolStatus { try ToolContext.current.become(name) }
