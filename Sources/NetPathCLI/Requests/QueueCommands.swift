// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser

/// `netpath queue`.
package struct QueueCommands: ParsableCommand {
    // Every command names itself: to make a name of a type's searches every conformance of the program, and that of
    // these twelve took as long as the rest of the parsing, whatever command was meant.
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "queue",
            abstract: "Manage the requests that wait to be sent.",
            shouldDisplay: ToolContext.current.offersRequests(),
            subcommands: [
                List.self, Show.self, Run.self, Retry.self, Cancel.self, Dead.self, Responses.self, Stats.self,
                Pause.self, Resume.self, Reset.self, Repair.self,
            ],
            defaultSubcommand: List.self
        )
    }

    // Here too, so that they may stand before the subcommand.
    @OptionGroup var common: CommonRequestOptions

    package init() {}

    /// `netpath queue list`.
    package struct List: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the waiting requests in the order in which they were queued, and what each waits for."
        )

        @Option(help: ArgumentHelp("List at most this many.", valueName: "number"))
        package var limit: Int?

        @OptionGroup package var secrets: SecretsOption
        @OptionGroup package var common: CommonRequestOptions

        package init() {}

        package func validate() throws {
            if let limit = self.limit, limit < 1 { throw ValidationError("--limit must be at least 1, found \(limit)") }
        }
    }

    /// `netpath queue show`.
    package struct Show: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one request: its headers without secrets, its attempts, and what it waits for.",
            discussion: "The exit status is 1 when it is not in the queue, or no longer."
        )

        @Argument(help: "The identifier that 'send' printed.")
        package var id: String

        @OptionGroup package var secrets: SecretsOption
        @OptionGroup package var common: CommonRequestOptions

        package init() {}
    }

    /// `netpath queue stats`.
    package struct Stats: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count the requests by state, and check whether the file is damaged."
        )

        @Option(
            help: ArgumentHelp(
                "Write metrics into this file instead, for the textfile collector of node_exporter.",
                valueName: "path"
            ),
            completion: .file()
        )
        package var textfile: String?

        @OptionGroup package var common: CommonRequestOptions

        package init() {}
    }

    /// `netpath queue run`.
    package struct Run: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Send the waiting requests, for as long as the command runs.",
            discussion: """
                Sends whenever there is a path, and sleeps while there is none. Of all programs that use a file one \
                sends at a time; when it ends, however it does, another takes over. On a terminal a line shows the \
                progress; otherwise each event is one line. SIGINT and SIGTERM end it with exit status 0: it starts no \
                further request, and those under way have --grace to finish; the others are sent again next time, with \
                the same key. A second signal ends it at once.

                The configuration, such as its rules about interfaces, applies to these paths too; it is read once, at \
                the start.

                With --until-empty it ends when nothing is left to send: with exit status 0, or with 1 when the queue \
                has requests that were given up or are held, also of earlier runs ('queue dead purge' deletes the \
                former), or is paused.
                """
        )

        @Flag(help: "End when nothing is left to send.")
        package var untilEmpty = false

        @Option(
            help: ArgumentHelp("With --until-empty: end after this long with exit status 3.", valueName: "duration")
        )
        package var timeout: TimeLimit?

        @Option(
            help: ArgumentHelp(
                "After a signal: wait this long for the requests under way. Default: 8s.",
                valueName: "duration"
            )
        )
        package var grace: TimeLimit?

        @OptionGroup package var trust: TrustOptions
        @OptionGroup package var common: CommonRequestOptions

        package init() {}

        package func validate() throws {
            if self.timeout != nil, !self.untilEmpty { throw ValidationError("--timeout needs --until-empty") }
        }
    }
}
