// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import ArgumentParser
public import NetPath

/// The command line tool as a library: a binary with backends of its own is one line.
///
/// ```swift
/// NetPathTool.main(name: "mine") { registry in
///     registry.register("mine", summary: "What mine watches") { section in MyMonitor(section) }
/// }
/// ```
public enum NetPathTool: Sendable {
    /// Runs the tool with the arguments of the process, and ends the process with its exit status.
    ///
    /// - Parameters:
    ///   - name: What the program is called in its help, its version and its messages.
    ///   - registering: Adds types of backends to the built-in ones.
    public static func main(
        name: String = "netpath",
        registering: (inout BackendRegistry) -> Void = { _ in }
    ) -> Never {
        Self.main(RootCommand.self) { context in
            context.name = name
            context.facts = BuildFacts(program: name)
            registering(&context.registry)
        }
    }

    /// Runs another tool that is made like this one, likewise.
    ///
    /// - Parameters:
    ///   - root: Its commands.
    ///   - prepare: Changes what they get from the process.
    package static func main(_ root: any ParsableCommand.Type, prepare: (inout ToolContext) -> Void) -> Never {
        StandardStreams.prepare()
        var context = ToolContext()
        prepare(&context)
        // The runtime reads them from /proc; without them any command would be another one.
        guard !CommandLine.arguments.isEmpty else {
            context.message("\(context.name): error: the arguments cannot be read: mount /proc")
            StandardStreams.exit(ToolStatus.failure.rawValue)
        }
        let status = Self.run(Array(CommandLine.arguments.dropFirst()), of: root, in: context)
        StandardStreams.exit(status.rawValue)
    }

    /// Runs a command line.
    static func run(
        _ arguments: [String],
        of root: any ParsableCommand.Type = RootCommand.self,
        in context: ToolContext
    ) -> ToolStatus {
        var context = context
        context.arguments = arguments
        return ToolContext.$current.withValue(context) {
            do {
                try Self.refuseOtherBytes(arguments)
                try Self.refuseUnknownCommand(arguments, of: root)
                let command = try root.parseAsRoot(arguments)
                if let command = command as? any ToolCommand {
                    try type(of: command).refuseUseless(arguments)
                    return try command.execute()
                }
                // Only ArgumentParser's own commands are left, such as `help`.
                var other = command
                try other.run()
                return .satisfied
            } catch {
                return Self.report(error, of: root, in: context)
            }
        }
    }

    /// Refuses what is not UTF-8, which has U+FFFD in its place, as Swift's runtime reads it: what is kept or looked for would be
    /// something else.
    private static func refuseOtherBytes(_ arguments: [String]) throws {
        guard let position = arguments.firstIndex(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else { return }
        // It may be a secret.
        throw ValidationError("argument \(position + 1) is not UTF-8, or has U+FFFD; pass such data in a file")
    }

    /// Refuses a word that stands where a command does and is none: ArgumentParser takes it for an argument of the default one.
    private static func refuseUnknownCommand(_ arguments: [String], of root: any ParsableCommand.Type) throws {
        var words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
        var commands = root.configuration.subcommands
        var found: [String] = []
        while let word = words.popFirst(), !word.hasPrefix("-"), !commands.isEmpty {
            let names = commands.compactMap { $0.configuration.commandName } + ["help"]
            guard names.contains(word) else {
                let suggestion = nearestMatch(to: word, among: names).map { " (did you mean '\($0)'?)" } ?? ""
                let command = (found + [word.safe]).joined(separator: " ")
                throw ValidationError("there is no command '\(command)'\(suggestion)")
            }
            found.append(word)
            commands = commands.first { $0.configuration.commandName == word }?.configuration.subcommands ?? []
        }
    }

    private static let durationAdvice = "give a number and a unit (ms, s, m, h or d), as in 30s"

    /// Tells the user about an error.
    ///
    /// ArgumentParser would exit with 1 for whatever a command throws, which here means "unsatisfied".
    static func report(
        _ error: any Error,
        of root: any ParsableCommand.Type = RootCommand.self,
        in context: ToolContext
    ) -> ToolStatus {
        let name = root.configuration.commandName ?? context.name
        if let error = error as? ConfigurationError {
            context.message(error.description)
            return .badConfiguration
        }
        if let error = error as? ToolFailure {
            context.message("\(name): error: \(error.message)")
            return error.status
        }
        switch root.exitCode(for: error) {
        case .success:
            // Help and version texts are what was asked for, hence data.
            do {
                let text = root.fullMessage(for: error)
                // ArgumentParser answers --version itself, before it looks at any other option.
                let isVersionInJSON = text == context.facts.text && context.arguments.contains("--json")
                try context.write((isVersionInJSON ? context.facts.document.line : text) + "\n")
                return .satisfied
            } catch {
                return Self.report(error, of: root, in: context)
            }
        case .validationFailure:
            let text = root.fullMessage(for: error)
                .replacing("<duration>'\n", with: "<duration>': \(Self.durationAdvice)\n")
            context.message(text.hasPrefix("Error: ") ? "\(name): error: \(text.dropFirst(7))" : text)
            return .usage
        default:
            context.message("\(name): error: \("\(error)".safe)")
            return .failure
        }
    }
}
