// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

@testable import NetPathCLI

/// Makes `netpath.1` (man(7) macros, which every system's man can read) from the definitions of the commands.
struct ManualPage {
    let tool: CommandDescription
    private var lines: [String] = []

    init(_ tool: CommandDescription) {
        self.tool = tool
    }

    static func text(_ tool: CommandDescription) -> String {
        var page = ManualPage(tool)
        page.write()
        return page.lines.joined(separator: "\n") + "\n"
    }

    private mutating func write() {
        self.lines = [
            #".\" SPDX-License-Identifier: Apache-2.0"#, #".\" Copyright the netpath authors"#,
            #".\" Made from the definitions of the commands by `make man`; do not edit."#,
            #".TH NETPATH 1 "" "netpath \#(netPathVersion)" "User Commands""#,
            #".\" A hyphen within a name would be taken for part of it."#, ".nh",
        ]
        self.section("NAME")
        self.text("netpath - \(Self.lowercased(self.tool.abstract ?? ""))")
        self.section("SYNOPSIS")
        for command in self.commands where command.subcommands == nil { self.synopsis(command) }
        self.section("DESCRIPTION")
        for paragraph in ManualText.description { self.paragraph(paragraph) }
        self.section("COMMANDS")
        for command in self.commands where command.superCommands != nil && command.subcommands == nil {
            self.describe(command)
        }
        self.section("OPTIONS")
        self.text("These stand before or after any command.")
        for argument in self.tool.commonArguments { self.describe(argument) }
        self.section("EXIT STATUS")
        for status in ToolStatus.allCases { self.item("\(status.rawValue)", status.meaning + ".") }
        self.section("ENVIRONMENT")
        for (name, meaning) in ManualText.environment { self.item(name, meaning) }
        self.section("FILES")
        for (name, meaning) in ManualText.files { self.item(name, meaning, font: "I") }
        self.section("EXAMPLES")
        for (meaning, code) in ManualText.examples {
            self.paragraph(meaning)
            self.lines +=
                [".RS 4", ".EX"] + code.split(separator: "\n").map { Self.escaped(String($0)) } + [".EE", ".RE"]
        }
        self.section("SEE ALSO")
        self.lines += [".BR ip (8),", ".BR rtnetlink (7),", ".BR resolv.conf (5)"]
    }

    /// Without ArgumentParser's own, which says nothing that `--help` does not.
    private var commands: [CommandDescription] {
        self.tool.all.filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    // MARK: Commands

    private mutating func synopsis(_ command: CommandDescription) {
        self.lines.append(".SY \"\(Self.escaped(command.words))\"")
        for argument in command.ownArguments { self.lines.append(Self.usage(argument)) }
        self.lines.append(#".RI [ options ]"#)
        self.lines.append(".YS")
    }

    private static func usage(_ argument: CommandDescription.Argument) -> String {
        let value = Self.escaped(argument.valueName ?? "value")
        if argument.isPositional { return argument.isOptional ? ".RI [ \(value) ]" : ".I \(value)" }
        let name = Self.escaped(argument.spellings.first ?? "")
        return argument.takesValue ? ".RB [ \(name) \\~\\fI\(value)\\fR]" : ".RB [ \(name) ]"
    }

    private mutating func describe(_ command: CommandDescription) {
        self.lines.append(".SS \"\(Self.escaped(command.words))\"")
        let isDefault = self.tool.defaultSubcommand == command.commandName
        self.text((command.abstract ?? "") + (isDefault ? " This is what netpath does without a command." : ""))
        for paragraph in (command.discussion ?? "").split(separator: "\n\n") { self.paragraph(String(paragraph)) }
        for argument in command.ownArguments { self.describe(argument) }
    }

    private mutating func describe(_ argument: CommandDescription.Argument) {
        let value = "\\fI\(Self.escaped(argument.valueName ?? "value"))\\fR"
        let names = argument.spellings.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
        let head = argument.isPositional ? value : argument.takesValue ? "\(names) \(value)" : names
        self.lines += [".TP", head]
        var text = argument.abstract ?? ""
        if let discussion = argument.discussion { text += " " + discussion }
        if let values = argument.allValues { text += " One of: \(values.joined(separator: ", "))." }
        if let value = argument.defaultValue { text += " Default: \(value)." }
        self.text(text)
    }

    // MARK: Lines

    private mutating func section(_ name: String) {
        self.lines.append(".SH \(name)")
    }

    private mutating func paragraph(_ text: String) {
        self.lines.append(".PP")
        self.text(text)
    }

    private mutating func item(_ name: String, _ meaning: String, font: String = "B") {
        self.lines += [".TP", ".\(font) \(Self.escaped(name))"]
        self.text(meaning)
    }

    private mutating func text(_ text: String) {
        self.lines += text.split(separator: "\n").map { Self.escaped(String($0)) }
    }

    /// A sentence of the help as the second half of the NAME line.
    private static func lowercased(_ sentence: String) -> String {
        sentence.prefix(1).lowercased() + sentence.dropFirst().prefix { $0 != "." }
    }

    /// Text that troff shows as it is: hyphens that can be copied, and no line that is a request.
    static func escaped(_ text: String) -> String {
        let plain = text.map { character -> String in
            switch character {
            case "\\": #"\e"#
            case "-": #"\-"#
            case "'": #"\(aq"#
            case "`": #"\(ga"#
            case "~": #"\(ti"#
            case "^": #"\(ha"#
            case "\"": #"\(dq"#
            default: String(character)
            }
        }
        let line = plain.joined()
        return line.hasPrefix(".") ? #"\&"# + line : line
    }
}
