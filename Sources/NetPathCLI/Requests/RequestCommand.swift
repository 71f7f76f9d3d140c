// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser
package import NetPath
import NetPathConfiguration

/// A command about requests, which `netpath-queue` carries out.
///
/// `netpath` knows only what such a command is called and takes, for its help, its manual and its completions. It links
/// neither SQLite nor libcurl nor Foundation, and executes the other program.
package protocol RequestCommand: ToolCommand {
    /// Where the queue is, and how to answer.
    var common: CommonRequestOptions { get }
}

extension RequestCommand {
    package var file: QueueFileOption { self.common.file }
    package var options: RequestOptions { self.common.options }

    package func execute() throws -> ToolStatus {
        try ToolContext.current.requests(self)
    }
}

/// What every command about requests takes.
package struct CommonRequestOptions: ParsableArguments {
    @OptionGroup var file: QueueFileOption
    @OptionGroup(title: "Global options") var options: RequestOptions

    package init() {}
}

/// Where the requests are kept.
package struct QueueFileOption: ParsableArguments {
    @Option(
        name: .customLong("queue"),
        help: ArgumentHelp(
            "Keep the requests in this file.",
            discussion: """
                Otherwise: $NETPATH_QUEUE, or netpath/requests/netpath.sqlite in $XDG_DATA_HOME, which is \
                ~/.local/share when unset.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["sqlite"])
    )
    package var path: String?

    package init() {}

    /// The file that was named, on the command line or in the environment; nil for the usual one.
    package var named: String? {
        let variable = ToolContext.current.environment["NETPATH_QUEUE", default: ""]
        return self.path ?? (variable.isEmpty ? nil : variable)
    }
}

/// Whether secrets are shown.
package struct SecretsOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Show the values of all headers, and the whole address.",
            discussion: """
                Otherwise the values of headers that are not known to be harmless, of requests and of responses, and \
                those of the query read <redacted>.
                """
        )
    )
    package var showSecrets = false

    package init() {}
}

/// Which certificates are trusted, for the commands that send.
package struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities in this file (PEM) instead of the system's.", valueName: "file"),
        completion: .file()
    )
    package var file: String?

    @Option(
        name: .customLong("capath"),
        help: ArgumentHelp(
            "Trust the authorities in this folder ('openssl rehash') instead of the system's.",
            valueName: "folder"
        ),
        completion: .directory
    )
    package var folder: String?

    package init() {}
}

/// The options of every command about requests.
package struct RequestOptions: ParsableArguments {
    // All are named as in `GlobalOptions`, so that they may stand before the command.
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "Use this configuration file to decide whether there is a path.",
            discussion: """
                For 'queue run' and 'send --wait', which send. Otherwise: as for 'status', and with the same \
                rules about interfaces. Read once, at the start.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var configurationPath: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Replace a value of that configuration; may be repeated.", valueName: "path=value")
    )
    var overrides: [String] = []

    @Flag(help: "Write JSON: one object on one line; lists write one for every request.")
    package var json = false

    @Option(help: ArgumentHelp("When to use colour in text for people.", valueName: "when"))
    var color = ColorChoice.auto

    package init() {}

    /// Makes the coordinator that the configuration describes; nothing runs before it is started.
    package typealias MakeCoordinator = @Sendable (any MonotonicClock, any TaskExecutor) -> PathCoordinator

    /// Reads the configuration.
    ///
    /// - Throws: `ConfigurationError`.
    package func configuredCoordinator() throws(ConfigurationError) -> MakeCoordinator {
        let context = ToolContext.current
        let configuration = try context.configuration(at: self.configurationPath, overrides: self.overrides)
        // What the backends complain about is for the commands about the path.
        let log = context.log(from: .error).write
        return { configuration.makeCoordinator(clock: $0, executor: $1, log: log) }
    }

    /// How text for people is laid out on standard output.
    package var style: TextStyle { self.color.style }
}

/// Ends the command with a status and a message.
package struct ToolFailure: Error, Sendable {
    package var status: ToolStatus
    /// One sentence or several: what, where, why, what to do.
    package var message: String

    package init(_ status: ToolStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
