// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser
import NetPathSystem

/// `netpath plugin`.
package struct PluginCommands: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Write a backend of your own, and check it.",
        subcommands: [NewPluginCommand.self, CheckPluginCommand.self, ComparePluginCommand.self]
    )

    package init() {}
}

/// A command about a backend that is a program; `netpath-plugin` carries it out, as it links the test kit and `netpath`
/// does not.
package protocol PluginCommand: ToolCommand {
    /// The backend: a program and its arguments.
    var command: [String] { get }
}

extension PluginCommand {
    /// The command as a configuration has to name it: a program runs in `/`, so that the program and arguments that name
    /// files here become absolute.
    ///
    /// - Throws: `SystemError` when there is no such program.
    package var absoluteCommand: [String] {
        get throws {
            guard let program = self.command.first else { return [] }
            let isHere = program.contains("/") && !program.hasPrefix("/")
            let arguments = self.command.dropFirst().map { argument in
                // Without what a symbolic link leads to: some programs ask what they are called.
                guard !argument.hasPrefix("/"), !argument.hasPrefix("-"), TrustedFile.isRegular(argument),
                    let folder = try? FileAccess.absolute(".")
                else { return argument }
                return "\(folder)/\(argument)"
            }
            return [isHere ? try FileAccess.absolute(program) : program] + arguments
        }
    }

    package func execute() throws -> ToolStatus { try ToolContext.current.plugins(self) }

    package func validate() throws {
        if self.command.isEmpty { throw ValidationError("name the backend's program after '--'") }
    }
}

/// `netpath plugin check`.
package struct CheckPluginCommand: PluginCommand {
    package static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that a program follows the rules for backends.",
        discussion: """
            The program is run as a backend of type exec, many times, and once for as long as its heartbeat says. The \
            exit status is 0 when it breaks no rule, and 1 otherwise. What it watches has to exist, and must not change \
            meanwhile. The program runs in '/', as in the service; arguments that name files of the working folder are made \
            absolute.
            """
    )

    @Flag(
        help: ArgumentHelp(
            "Run it for a moment, and show each line, how it was read, and the verdict.",
            discussion: "The exit status is 0 when all could be read, and 1 otherwise."
        )
    )
    package var once = false

    @Option(help: ArgumentHelp("Start and end it this many times to find leaks.", valueName: "number"))
    package var cycles = 100

    @Option(
        help: ArgumentHelp(
            "Leave this rule out; may be repeated.",
            discussion: "For example leaks, which takes longest; an unknown name lists all.",
            valueName: "rule"
        )
    )
    package var except: [String] = []

    @Flag(help: "Write JSON: one object on one line.")
    package var json = false

    /// How many times the usual time the program has, for tests beside which other things run.
    @Option(help: .private)
    package var patienceFactor = 1

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"))
    package var command: [String] = []

    package init() {}
}

/// `netpath plugin compare`.
package struct ComparePluginCommand: PluginCommand {
    package static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare a program with netlink in the situations that netpath is tested in.",
        discussion: """
            Each situation is played in network namespaces of its own, which takes root or unprivileged user namespaces. \
            The exit status is 0 when every verdict of the program is allowed, and 1 otherwise. To have no verdict is \
            always allowed; not to run, or never to have reported before the change, is not.
            """
    )

    @Option(help: ArgumentHelp("Play only the situations whose titles contain this.", valueName: "text"))
    package var only = ""

    @Option(help: ArgumentHelp("Give it this long to see what netlink sees.", valueName: "duration"))
    package var patience = TimeLimit(duration: .seconds(10))

    @Flag(help: "Write JSON: one object on one line.")
    package var json = false

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"))
    package var command: [String] = []

    package init() {}
}
