// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathSystem

/// Values of the configuration that the command line replaces.
// A group of its own: what stands on the command line reaches a command only in groups that `netpath` has, too.
struct SettingOptions: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Replace a value of the configuration, for example backends.netlink.mode=off; may be repeated.",
            discussion: """
                An entry of a list is named by its name or its number from 0. $NETPATH_SET holds such values too, with \
                ';' between them; the command line wins.
                """,
            valueName: "path=value"
        )
    )
    var overrides: [String] = []
}

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "Read this configuration file.",
            discussion: """
                Otherwise: $NETPATH_CONFIG, $XDG_CONFIG_HOME/netpath/netpath.yaml, /etc/netpath/netpath.yaml, or the \
                embedded default.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var configurationPath: String?

    @OptionGroup
    var settings: SettingOptions

    @OptionGroup
    var output: OutputOptions

    /// Whether JSON is wanted.
    var json: Bool { self.output.json }
    /// How text for people is laid out on standard output.
    var style: TextStyle { self.output.style }

    /// Reads the configuration.
    ///
    /// - Parameter path: A file to read in place of the one named by the options.
    /// - Returns: The configuration; nothing is started.
    /// - Throws: `ConfigurationError`.
    func configuration(at path: String? = nil) throws(ConfigurationError) -> LoadedConfiguration {
        try ToolContext.current.configuration(at: path ?? self.configurationPath, overrides: self.settings.overrides)
    }

    /// Reads the configuration of backends that are about to run; where this program cannot run one, becomes the one
    /// that can.
    ///
    /// - Throws: `ConfigurationError`, or ``ToolFailure``.
    func runnableConfiguration(
        _ change: (LoadedConfiguration) -> LoadedConfiguration = { $0 }
    ) throws -> LoadedConfiguration {
        let configuration = change(try self.configuration())
        try ToolContext.current.becomeProgram(running: configuration)
        return configuration
    }

    /// Writes one document, as JSON or as text.
    ///
    /// - Throws: `SystemError` when standard output takes no more, for example because the disk is full.
    func write(_ document: @autoclosure () -> JSONNode, or text: (TextStyle) -> String) throws {
        try self.output.write(document(), or: text)
    }
}

extension ToolContext {
    /// Reads the configuration that the options of a command, or else the environment, name.
    ///
    /// - Throws: `ConfigurationError`.
    func configuration(at path: String?, overrides: [String]) throws(ConfigurationError) -> LoadedConfiguration {
        try LoadedConfiguration.load(
            path: path,
            environment: self.environment,
            overrides: overrides,
            registry: self.registry
        )
    }
}

/// Whether those take part that an answer of the moment does without.
struct ProbeOptions: ParsableArguments {
    @Flag(help: "Ask probes and plugins too, which takes longer and may send packets.")
    var probe = false

    /// The configuration with those who are asked.
    func applied(to configuration: LoadedConfiguration) -> LoadedConfiguration {
        self.probe ? configuration : configuration.answering
    }
}

/// How long to wait for the backends.
struct TimeoutOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Wait at most this long for the backends, for example 500ms.", valueName: "duration"))
    var timeout = TimeLimit(duration: .seconds(5))
}

/// A duration on the command line: as in the configuration file, or a plain number of seconds.
package struct TimeLimit: ExpressibleByArgument, Hashable, Sendable {
    package var duration: Duration

    init(duration: Duration) {
        self.duration = duration
    }

    package init?(argument: String) {
        guard let duration = DurationText.parse(argument) ?? DurationText.parse(argument + "s") else { return nil }
        self.init(duration: duration)
    }

    package var defaultValueDescription: String { DurationText.format(self.duration) }
}
