// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import Foundation
import NetPathCLI
import NetPathCurl
import OfflineRequests

/// `netpath-queue`: the commands of `netpath` that are about requests, which it executes this program for.
struct QueueTool: ParsableCommand {
    /// What the program is made of.
    static let facts = BuildFacts(
        program: "netpath-queue",
        libraries: [CurlTransport.library, OfflineRequestQueue.library]
    )

    /// What was typed, which help names.
    private static let name = URL(filePath: CommandLine.arguments.first ?? "").lastPathComponent

    /// What messages name: the program that this one serves, also when it was typed itself.
    static let program = name == "netpath-queue" ? "netpath" : name

    /// The option that names another file than the usual one, as it was typed; empty where there is none.
    static let file: String = {
        let words = CommandLine.arguments
        guard let place = words.firstIndex(where: { $0 == "--queue" || $0.hasPrefix("--queue=") }) else { return "" }
        let value = words[place].split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
        let name = value ?? words[(place + 1)...].first ?? ""
        return name.contains(" ") ? " --queue \"\(name.safe)\"" : " --queue \(name.safe)"
    }()

    static let configuration = CommandConfiguration(
        commandName: Self.name,
        abstract: "Keep HTTP requests on disk, and send them when there is a path.",
        discussion: """
            This is what 'netpath send' and 'netpath queue' execute.

            \(ToolStatus.help)
            """,
        version: QueueTool.facts.text,
        subcommands: [SendCommand.self, QueueCommands.self]
    )

    // Here too, so that they may stand before the subcommand.
    @OptionGroup(title: "Global options")
    var options: RequestOptions
}

/// A command as a user types it, in quotes, for the same queue.
func typed(_ words: String) -> String { "'\(QueueTool.program) \(words)\(QueueTool.file)'" }

/// A command about requests and what it does; `NetPathCLI` knows only its words.
protocol RunnableCommand: RequestCommand {
    func run(in session: QueueSession) throws -> ToolStatus
}
