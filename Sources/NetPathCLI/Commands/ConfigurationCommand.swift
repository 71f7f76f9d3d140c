// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathSystem

/// `netpath config`.
struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show or check the configuration, or print the default one or its schema.",
        subcommands: [Show.self, Check.self, Default.self, Schema.self]
    )

    /// `netpath config show`.
    struct Show: ToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show every value in effect, and where it comes from.",
            discussion: "The output is a configuration file itself."
        )

        @OptionGroup(title: "Global options")
        var options: GlobalOptions

        func execute() throws -> ToolStatus {
            let configuration = try self.options.configuration()
            try self.options.write(.effective(configuration)) { _ in configuration.effective.text }
            return .satisfied
        }
    }

    /// `netpath config check`.
    struct Check: ToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check a configuration file and list everything that is wrong with it.",
            discussion: """
                The exit status is 78 when anything is wrong. What is legal but probably a mistake is a warning, with \
                exit status 0, and so is an unknown key in a file whose 'version' is newer than this program; with \
                --strict each of these is an error. Warnings are shown only where there are no errors. The files in FILE.d are \
                checked with it. Nothing is started.
                """
        )

        @Argument(
            help: "The file to check; without it the one that would be used.",
            completion: .file(extensions: ["yaml", "yml", "json"])
        )
        var file: String?

        @Flag(help: "Treat warnings as errors.")
        var strict = false

        @OptionGroup(title: "Global options")
        var options: GlobalOptions

        func execute() throws -> ToolStatus {
            let configuration: LoadedConfiguration
            do throws(ConfigurationError) {
                configuration = try self.options.configuration(at: self.file)
                if self.strict, let error = ConfigurationError(configuration.warnings) { throw error }
            } catch {
                guard self.options.json else {
                    if error.diagnostics.allSatisfy({ $0.severity == .warning }) {
                        ToolContext.current.say("with --strict, warnings are errors")
                    }
                    throw error
                }
                let origin = error.diagnostics.first?.origin ?? self.file ?? ""
                try self.options.write(.configurationCheck(origin: origin, error: error)) { _ in "" }
                return .badConfiguration
            }
            let (origin, warnings) = (configuration.origin, configuration.warnings)
            if !self.options.json {
                for warning in warnings { ToolContext.current.message(warning.description) }
            }
            let leftOut = configuration.answering.leftOut
            let names = configuration.backends.map(\.name).filter { leftOut[$0] != nil }
            let document = JSONNode.configurationCheck(
                origin: origin,
                error: nil,
                dropIns: configuration.dropIns,
                warnings: warnings,
                notAsked: names
            )
            try self.options.write(document) { _ in
                ([origin] + configuration.dropIns).map { "\($0.safe): ok\n" }.joined()
                    + (names.isEmpty ? "" : Self.remark(on: names))
            }
            return .satisfied
        }

        /// What is said of backends that a plain question leaves out.
        private static func remark(on names: [String]) -> String {
            "status, explain and wait ask these only with --probe, or through 'netpath run': "
                + names.joined(separator: ", ").safe + "\n"
        }
    }

    /// `netpath config default`.
    struct Default: ToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "default",
            abstract: "Print the embedded default configuration, every key explained."
        )

        static let uselessOptions = ["--config", "--set"]

        @OptionGroup(title: "Output options")
        var output: OutputOptions

        func execute() throws -> ToolStatus {
            let text = LoadedConfiguration.defaultText
            try self.output.write(["schema": schemaVersion, "text": .string(text)]) { _ in text }
            return .satisfied
        }
    }

    /// `netpath config schema`.
    struct Schema: ToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema of the configuration, with which editors check and complete it.",
            discussion: """
                It knows every type of backend that this program knows. Editors with the YAML language server take it from \
                the first line of a configuration: # yaml-language-server: $schema=netpath.schema.json
                """
        )

        static let uselessOptions = ["--config", "--set"]

        @OptionGroup(title: "Output options")
        var output: OutputOptions

        func execute() throws -> ToolStatus {
            let schema = try ConfigurationSchema.schema(of: ToolContext.current.registry)
            try self.output.write(schema.document) { _ in schema.text }
            return .satisfied
        }
    }
}
