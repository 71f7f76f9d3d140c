// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

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

    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a script that completes netpath's commands and options in a shell.",
        discussion: """
            'make install' installs the scripts. For one session of bash: source <(netpath completion bash). For fish, \
            write it to ~/.config/fish/completions/netpath.fish; for zsh, to a file _netpath in a directory of $fpath.
            """
    )

    @Argument(help: "The shell to complete in.")
    var shell: Shell

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let text = self.shell.script
        try self.options.write(["schema": schemaVersion, "text": .string(text)]) { _ in text }
        return .satisfied
    }
}
