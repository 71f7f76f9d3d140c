// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser

// The commands that change what waits.

/// The requests that a command names, of those of a file.
package struct NamedRequests: ParsableArguments {
    @Argument(help: "The identifiers.")
    var ids: [String] = []

    @OptionGroup var common: CommonRequestOptions

    package init() {}
}

/// A command about the requests that it names, or about all.
package protocol NamingCommand: RequestCommand {
    /// Which.
    var requests: NamedRequests { get }
}

extension NamingCommand {
    package var ids: [String] { self.requests.ids }
    package var common: CommonRequestOptions { self.requests.common }
}

extension QueueCommands {
    /// `netpath queue retry`.
    package struct Retry: NamingCommand {
        package static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Retry now the requests that wait, are held or were given up.",
            discussion: """
                The named requests become due now, and the program that sends takes them; of a request that was held or \
                given up, the attempts are forgotten. Without an identifier: every request that waits between two attempts or for a host that \
                failed, and every one that is held; with --all also those that were given up.

                A request that is held because the server did not accept its credentials can be given new ones: \
                'queue retry ID -H @FILE', with a line 'Authorization: Bearer NEW'.
                """
        )

        @Flag(help: "Also requests that were given up.")
        package var all = false

        @Option(
            name: [.customShort("H"), .customLong("header")],
            help: ArgumentHelp(
                "Send this header, or those of @file, in place of those of the same name from now on; may be repeated.",
                valueName: "name: value"
            )
        )
        package var headers: [String] = []

        @OptionGroup package var requests: NamedRequests

        package init() {}

        package func validate() throws {
            if self.all, !self.ids.isEmpty { throw ValidationError("--all takes no identifiers") }
            if self.ids.isEmpty, !self.headers.isEmpty {
                throw ValidationError("-H needs the identifiers of those that get the header")
            }
            try SendCommand.validate(headers: self.headers)
        }
    }

    /// `netpath queue cancel`.
    package struct Cancel: NamingCommand {
        package static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel requests, also those that are being sent.",
            discussion: "The exit status is 1 when a named request is not there, or there is none."
        )

        @Flag(help: "All requests that are not finished.")
        package var all = false

        @Option(help: ArgumentHelp("The requests that were sent with this --key.", valueName: "key"))
        package var key: String?

        @Option(help: ArgumentHelp("The requests that were sent with this --type.", valueName: "type"))
        package var type: String?

        @OptionGroup package var requests: NamedRequests

        package init() {}

        package func validate() throws {
            let named = [!self.ids.isEmpty, self.all, self.key != nil, self.type != nil].count { $0 }
            if named != 1 { throw ValidationError("Name identifiers, or one of --all, --key and --type") }
        }
    }

    /// `netpath queue reset`.
    package struct Reset: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Delete everything: all requests, the responses that are kept, and the pause."
        )

        @Flag(help: "Confirm; nothing is deleted without it.")
        package var yes = false

        @OptionGroup package var common: CommonRequestOptions

        package init() {}

        package func validate() throws {
            if !self.yes { throw ValidationError("Everything in the queue would be lost; add --yes if that is wanted") }
        }
    }

    /// `netpath queue pause`.
    package struct Pause: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Send nothing more until 'resume', whichever program sends; new requests are kept."
        )

        @OptionGroup package var common: CommonRequestOptions

        package init() {}
    }

    /// `netpath queue resume`.
    package struct Resume: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Send again after 'pause'."
        )

        @OptionGroup package var common: CommonRequestOptions

        package init() {}
    }

    /// `netpath queue dead`.
    package struct Dead: ParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "dead",
            abstract: "Manage the requests that were given up.",
            subcommands: [List.self, Requeue.self, Purge.self],
            defaultSubcommand: List.self
        )

        // Here too, so that they may stand before the subcommand.
        @OptionGroup var common: CommonRequestOptions

        package init() {}

        /// `netpath queue dead list`.
        package struct List: RequestCommand {
            package static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List the requests that were given up, and why."
            )

            @OptionGroup package var secrets: SecretsOption
            @OptionGroup package var common: CommonRequestOptions

            package init() {}
        }

        /// `netpath queue dead requeue`.
        package struct Requeue: NamingCommand {
            package static let configuration = CommandConfiguration(
                commandName: "requeue",
                abstract: "Queue requests that were given up again, with no attempt counted.",
                discussion: """
                    Without an identifier all of them. The exit status is 1 when a named one is not there, or there is \
                    none.
                    """
            )

            @OptionGroup package var requests: NamedRequests

            package init() {}
        }

        /// `netpath queue dead purge`.
        package struct Purge: NamingCommand {
            package static let configuration = CommandConfiguration(
                commandName: "purge",
                abstract: "Delete the requests that were given up.",
                discussion: "Without an identifier all of them."
            )

            @OptionGroup package var requests: NamedRequests

            package init() {}
        }
    }

    /// `netpath queue responses`.
    package struct Responses: ParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "responses",
            abstract: "Manage the responses that are kept: of 'send --wait', or of a program that asked for it.",
            discussion: "They take room in the queue until the program that asked removes them, or for a day.",
            subcommands: [List.self, Purge.self],
            defaultSubcommand: List.self
        )

        // Here too, so that they may stand before the subcommand.
        @OptionGroup var common: CommonRequestOptions

        package init() {}

        /// `netpath queue responses list`.
        package struct List: RequestCommand {
            package static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List the requests whose response is kept; 'queue show' shows it."
            )

            @OptionGroup package var secrets: SecretsOption
            @OptionGroup package var common: CommonRequestOptions

            package init() {}
        }

        /// `netpath queue responses purge`.
        package struct Purge: NamingCommand {
            package static let configuration = CommandConfiguration(
                commandName: "purge",
                abstract: "Delete the kept responses.",
                discussion: "Without an identifier all of them."
            )

            @OptionGroup package var requests: NamedRequests

            package init() {}
        }
    }

    /// `netpath queue repair`.
    package struct Repair: RequestCommand {
        package static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Check the whole file, and recover what can be read of a damaged one.",
            discussion: """
                The damaged file is kept under a name with the time, and its intact requests are copied into a new \
                one. A request whose body is damaged is held. The exit status is 70 when anything is damaged, 0 otherwise.
                """
        )

        @OptionGroup package var common: CommonRequestOptions

        package init() {}
    }
}
