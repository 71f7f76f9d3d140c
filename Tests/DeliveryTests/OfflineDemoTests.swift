// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The demonstration, as a newcomer runs it: it makes its network itself.
@Suite(.needsCommandLab)
struct OfflineDemoTests {
    private let lab: NetworkNamespace
    private let products: String
    private let script: String
    private var keys: String { "\(self.lab.directory)/keys" }

    init() throws {
        self.lab = try NetworkNamespace()
        let program = try MonitorProcess.builtProduct("Examples")
        self.products = URL(filePath: program).deletingLastPathComponent().path
        self.script =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Examples/OfflineDemo/run").standardizedFileURL.path
    }

    /// Plays on a terminal of its own, whose settings are printed before and after; `press` is the person.
    private func terminal() throws -> MonitorProcess {
        try self.lab.run("mkfifo \(self.keys)")
        let play = "trap : INT; echo settings $(stty -g); echo $$ >\(self.lab.directory)/shell; \(self.script); "
        return try self.lab.start(
            "sh",
            // Open for writing too, so that it has no end between two keys.
            [
                "-c", "exec script -qfec \"$0\" /dev/null <>\(self.keys)",
                "\(play) echo ended $?; echo settings $(stty -g); echo over",
            ],
            environment: ["NETPATH_PRODUCTS": self.products, "TERM": "xterm", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"]
        )
    }

    private func press(_ keys: String) throws { try self.lab.run("printf '\(keys)' >\(self.keys)") }

    /// What is drawn until a line says that.
    @discardableResult
    private func text(of terminal: MonitorProcess, until word: String) throws -> String {
        var text = ""
        repeat { text += try terminal.nextText() + "\n" } while !text.contains(word)
        return text
    }

    /// The settings that the terminal has now.
    private func settings(_ text: String) -> Substring? {
        text.split(whereSeparator: \.isNewline).last { $0.hasPrefix("settings ") }
    }

    @Test func withoutATerminalAScriptIsPlayed() throws {
        let demo = try self.lab.start(self.script, [], environment: ["NETPATH_PRODUCTS": self.products])
        var lines: [String] = []
        while lines.last?.hasPrefix("The server saw") != true {
            lines.append(try demo.nextText())
        }
        #expect(try demo.waitForEnd() == 0)
        let text = lines.joined(separator: "\n")
        func position(_ word: String) throws -> Int {
            try #require(lines.firstIndex { $0.contains(word) }, "'\(word)' is missing:\n\(text)")
        }
        #expect(try position("no terminal") < position("answered   reading 1"), "\(text)")
        #expect(try position("answered   reading 2") < position("∆ No Network"), "\(text)")
        #expect(try position("∆ No Network") < position("kept       reading 3"), "\(text)")
        #expect(try position("cancelled  reading") < position("Network is back"), "\(text)")
        #expect(try position("Network is back") < position("delivered  reading"), "\(text)")
        #expect(lines.contains("2 readings were answered at once, 2 delivered later, 0 wait."), "\(text)")
        // What was repeated had the same key.
        #expect(lines.last?.hasSuffix("with 4 different keys.") == true, "\(text)")
    }

    @Test func aPersonPlaysOnATerminal() throws {
        let terminal = try self.terminal()
        let before = self.settings(try self.text(of: terminal, until: "cut the cable"))
        #expect(before != nil)
        try self.press("e")
        try self.text(of: terminal, until: "1 answered at once")
        try self.press("n")
        // The banner comes in from the left.
        let coming = try self.text(of: terminal, until: "  ∆ No Network: what you send waits on the disk")
        let banners = coming.split(whereSeparator: \.isNewline).filter { $0.contains("the disk") }
        #expect(banners.contains { !$0.contains("Network") }, "\(coming)")
        try self.text(of: terminal, until: "mend the cable")
        try self.press("ee")
        try self.text(of: terminal, until: "2 waiting ■■")
        try self.text(of: terminal, until: "reading 3: no path: wan0 has no carrier")
        try self.press("x")
        try self.text(of: terminal, until: "1 waiting ■")
        try self.press("n")
        try self.text(of: terminal, until: "1 delivered later")
        try self.text(of: terminal, until: "0 waiting")
        try self.press("q")
        let end = try self.text(of: terminal, until: "over")
        #expect(end.contains("1 readings were answered at once, 1 delivered later, 0 wait."), "\(end)")
        #expect(end.contains("ended 0"), "\(end)")
        #expect(self.settings(end) == before)
    }

    /// However it ends, and whoever ends it, the terminal is as it was.
    @Test(arguments: [
        ("printf '\\003' >KEYS", 130), ("pkill -TERM -P SHELL", 143), ("pkill -HUP -P SHELL", 129),
        ("pkill -KILL -P $(pgrep -P SHELL) -x Examples", 137),
    ])
    func theTerminalIsGivenBack(_ command: String, _ status: Int) throws {
        let terminal = try self.terminal()
        let before = self.settings(try self.text(of: terminal, until: "cut the cable"))
        let shell = try self.lab.run("cat \(self.lab.directory)/shell").filter(\.isNumber)
        try self.lab.run(command.replacing("KEYS", with: self.keys).replacing("SHELL", with: shell))
        let end = try self.text(of: terminal, until: "over")
        #expect(end.contains("\u{1B}[?25h"), "\(end)")
        #expect(end.contains("ended \(status)"), "\(end)")
        #expect(before != nil && self.settings(end) == before, "\(end)")
    }
}
