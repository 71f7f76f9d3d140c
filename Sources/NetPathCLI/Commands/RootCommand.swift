// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser

/// A command that ends with an exit status of ours.
package protocol ToolCommand: ParsableCommand {
    /// Does the work.
    ///
    /// - Throws: Whatever keeps the command from an answer; ``NetPathTool`` makes it a message and an exit status.
    func execute() throws -> ToolStatus

    /// The options of `netpath` itself, which stand for those of most commands, that are of no use to this one.
    static var uselessOptions: [String] { get }
}

extension ToolCommand {
    package static var uselessOptions: [String] { [] }

    /// Refuses what would be ignored.
    ///
    /// - Throws: ``ToolFailure``.
    static func refuseUseless(_ arguments: [String]) throws(ToolFailure) {
        let words = arguments.prefix { $0 != "--" }
        let found = Self.uselessOptions.first { option in
            words.contains { $0 == option || $0.hasPrefix(option + "=") }
        }
        guard let found else { return }
        throw ToolFailure(.usage, "'\(Self.configuration.commandName ?? "")' does not take \(found): leave it out")
    }
}

/// `netpath`.
struct RootCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let context = ToolContext.current
        guard context.name != ToolContext.usualName else { return Self.usual }
        var configuration = Self.usual
        configuration.commandName = context.name
        configuration.version = context.facts.text
        return configuration
    }

    private static let usual = CommandConfiguration(
        commandName: ToolContext.usualName,
        abstract: "Tell whether this machine has a network path, over what, and if not, why not.",
        discussion: """
            Without a subcommand, 'status' is run. Data goes to standard output, messages to standard error.

            \(ToolStatus.help)
            """,
        version: BuildFacts.netpath.text,
        subcommands: [
            StatusCommand.self, WatchCommand.self, WaitCommand.self, ReachCommand.self, ExplainCommand.self,
            BackendsCommand.self, CompareCommand.self, RunCommand.self, HooksCommand.self, HistoryCommand.self,
            ReplayCommand.self, ReportCommand.self, ConfigurationCommand.self, SendCommand.self, QueueCommands.self,
            PluginCommands.self, ServeCommand.self, CompletionCommand.self,
        ],
        defaultSubcommand: StatusCommand.self
    )

    // Here too, so that they may stand before the subcommand.
    @OptionGroup(title: "Global options")
    var options: GlobalOptions
}
