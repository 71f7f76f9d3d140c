// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser
import NetPath
package import NetPathConfiguration
import NetPathSystem

/// `netpath serve`, which `netpath-serve` carries out: `netpath` links no web server.
package struct ServeCommand: ToolCommand {
    package static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Show the path as a web page, a banner for other pages, and metrics.",
        discussion: """
            Attaches to the service ('netpath run') where one runs; otherwise it watches by itself, without hooks and \
            without a recording. Runs until SIGTERM or SIGINT.

            It listens on http://127.0.0.1:6387 unless 'serve:' in the configuration or --listen says otherwise; that \
            section also names the clients that may ask. An address that other machines can reach needs a token, and a \
            proxy with TLS in front. On SIGHUP it reads these again, the token first.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Listen there instead: an address and a port, or the absolute path of a socket; may be repeated.",
            valueName: "address"
        )
    )
    package var listen: [String] = []

    @Option(
        help: ArgumentHelp(
            "Every client has to send the token in this file, which must not be readable by other users.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var tokenFile: String?

    @Flag(help: "Watch by itself even where the service runs.")
    package var standalone = false

    @Option(
        help: ArgumentHelp(
            "Write the metrics into this file and end, for the textfile collector of node_exporter.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var textfile: String?

    @OptionGroup var source: RecordingOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    package init() {}

    package func execute() throws -> ToolStatus { try ToolContext.current.serve(self) }

    /// What the configuration says, with what the command line says instead.
    ///
    /// - Throws: `ConfigurationError`, or ``ToolFailure`` when an address is none.
    package func settings() throws -> ServeSettings {
        var settings = try self.standingConfiguration().serve
        if !self.listen.isEmpty {
            settings.addresses = try self.listen.map { text in
                if let address = ServeAddress(text) { return address }
                throw ToolFailure(
                    .usage,
                    "'\(text.safe)' is not an address: write 127.0.0.1:6387, [::1]:6387 or the absolute path of a socket"
                )
            }
        }
        if let tokenFile { settings.tokenFile = tokenFile }
        return settings
    }

    /// The configuration, or what the service of the system ran with last where that is refused.
    ///
    /// - Throws: `ConfigurationError`.
    func standingConfiguration() throws -> LoadedConfiguration {
        let (configuration, refusal) = try self.options.standingConfiguration(in: .system, orDefault: false)
        for line in refusal?.lines ?? [] {
            ToolContext.current.say("error: \(configuration.origin) is in force instead: \(line)")
        }
        return configuration
    }
}
