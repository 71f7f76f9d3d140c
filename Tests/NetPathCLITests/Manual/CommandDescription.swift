// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A command as ArgumentParser describes it (`--experimental-dump-help`); what the manual page is made from.
struct CommandDescription: Decodable, Sendable {
    struct Argument: Decodable, Hashable, Sendable {
        struct Name: Decodable, Hashable, Sendable {
            var kind: String
            var name: String

            var spelling: String { self.kind == "long" ? "--\(self.name)" : "-\(self.name)" }
        }

        var kind: String
        var names: [Name]?
        var valueName: String?
        var abstract: String?
        var discussion: String?
        var defaultValue: String?
        var allValues: [String]?
        var isOptional: Bool
        var shouldDisplay: Bool
        var sectionTitle: String?

        var isPositional: Bool { self.kind == "positional" }
        var takesValue: Bool { self.kind != "flag" }
        /// Short names first, as manual pages have it.
        var spellings: [String] { (self.names ?? []).map(\.spelling).sorted { $0.utf8.count < $1.utf8.count } }
    }

    /// The whole document.
    struct Tool: Decodable, Sendable {
        var command: CommandDescription
    }

    var commandName: String
    var superCommands: [String]?
    var abstract: String?
    var discussion: String?
    var defaultSubcommand: String?
    var subcommands: [CommandDescription]?
    var arguments: [Argument]?
    var shouldDisplay: Bool

    /// The words that start it.
    var words: String { ((self.superCommands ?? []) + [self.commandName]).joined(separator: " ") }

    /// This command and all below it, in the order of the help text.
    var all: [CommandDescription] { [self] + (self.subcommands ?? []).flatMap(\.all) }

    /// The arguments of this command alone: neither those of every command nor ArgumentParser's own.
    var ownArguments: [Argument] { self.shownArguments.filter { !$0.isCommon } }

    /// The arguments of every command.
    var commonArguments: [Argument] { self.shownArguments.filter(\.isCommon) }

    private var shownArguments: [Argument] { (self.arguments ?? []).filter(\.shouldDisplay) }
}

extension CommandDescription.Argument {
    fileprivate var isCommon: Bool {
        self.sectionTitle == "Global options" || self.spellings.contains("--help")
            || self.spellings.contains("--version")
    }
}
