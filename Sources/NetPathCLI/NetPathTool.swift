// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
public import NetPath
import NetPathConfiguration

/// The command line tool as a library: a binary with backends of its own is one line.
///
/// ```swift
/// NetPathTool.main { registry in
///     registry.register("mine", summary: "What mine watches") { section in MyMonitor(section) }
/// }
/// ```
public enum NetPathTool: Sendable {
    /// Runs the tool with the arguments of the process, and ends the process with its exit status.
    ///
    /// - Parameter registering: Adds types of backends to the built-in ones.
    public static func main(registering: (inout BackendRegistry) -> Void = { _ in }) -> Never {
        StandardStreams.prepare()
        var context = ToolContext()
        registering(&context.registry)
        let status = Self.run(Array(CommandLine.arguments.dropFirst()), in: context)
        StandardStreams.exit(status.rawValue)
    }

    /// Runs a command line.
    static func run(_ arguments: [String], in context: ToolContext) -> ToolStatus {
        ToolContext.$current.withValue(context) {
            do {
                let command = try RootCommand.parseAsRoot(arguments)
                if let command = command as? any ToolCommand { return try command.execute() }
                // Only ArgumentParser's own commands are left, such as `help`.
                var other = command
                try other.run()
                return .satisfied
            } catch {
                return Self.report(error, arguments: arguments, in: context)
            }
        }
    }

    /// Tells the user about an error.
    ///
    /// ArgumentParser would exit with 1 for whatever a command throws, which here means "unsatisfied".
    static func report(_ error: any Error, arguments: [String] = [], in context: ToolContext) -> ToolStatus {
        if let error = error as? ConfigurationError {
            context.message(error.description)
            return .badConfiguration
        }
        switch RootCommand.exitCode(for: error) {
        case .success:
            // Help and version texts are what was asked for, hence data.
            do {
                let text = RootCommand.fullMessage(for: error)
                // ArgumentParser answers --version itself, before it looks at any other option.
                let isVersionInJSON = text == BuildFacts.text && arguments.contains("--json")
                try context.write((isVersionInJSON ? BuildFacts.document.line : text) + "\n")
                return .satisfied
            } catch {
                return Self.report(error, in: context)
            }
        case .validationFailure:
            context.message(RootCommand.fullMessage(for: error))
            return .usage
        default:
            context.message("netpath: error: \("\(error)".safe)")
            return .failure
        }
    }
}
