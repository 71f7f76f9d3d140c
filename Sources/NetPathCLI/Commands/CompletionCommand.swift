// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPathSystem

/// `netpath completion`.
struct CompletionCommand: ToolCommand {
    /// A shell that ArgumentParser writes completions for.
    enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
        case bash
        case zsh
        case fish

        /// What the shell reads.
        var script: String {
            let shell: CompletionShell =
                switch self {
                case .bash: .bash
                case .zsh: .zsh
                case .fish: .fish
                }
            return RootCommand.completionScript(for: shell) + "\n"
        }
    }

    static var configuration: CommandConfiguration {
        let name = ToolContext.current.name
        return CommandConfiguration(
            commandName: "completion",
            abstract: "Print a script that completes \(name)'s commands and options in a shell.",
            discussion: """
                'make install' installs the scripts. For one session of bash: source <(\(name) completion bash). For \
                fish, write it to ~/.config/fish/completions/\(name).fish; for zsh, to a file _\(name) in a directory \
                of $fpath.
                """
        )
    }

    @Argument(help: "The shell to complete in.")
    var shell: Shell

    static let uselessOptions = ["--config", "--set"]

    @OptionGroup(title: "Output options")
    var output: OutputOptions

    func execute() throws -> ToolStatus {
        let text = self.shell.script
        try self.output.write(["schema": schemaVersion, "text": .string(text)]) { _ in text }
        return .satisfied
    }
}
