// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathSystem

/// `netpath plugin new`.
struct NewPluginCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write a backend to start from, which builds and passes its tests.",
        discussion: """
            It is written into a folder of the name given, which must not exist. In Swift it is a package with a backend, \
            its options, a program and its tests; otherwise a program, a configuration that runs it, and its test.
            """
    )

    /// What the backend is written in.
    enum Language: String, CaseIterable, ExpressibleByArgument, Sendable {
        /// Swift: it runs within the program.
        case swift
        /// Python: it runs beside it.
        case python
        /// The shell, likewise.
        case shell
    }

    @Argument(help: ArgumentHelp("What the backend is called: letters, digits and hyphens.", valueName: "name"))
    var name: String

    @Option(
        help: ArgumentHelp(
            "What it is written in.",
            discussion: "Otherwise Swift where --netpath is given, and else Python.",
            valueName: "language"
        )
    )
    var language: Language?

    @Option(
        name: .customLong("netpath"),
        help: ArgumentHelp(
            "For Swift: where the package netpath is, a folder or the address of a repository.",
            valueName: "place"
        )
    )
    var netpath: String?

    func validate() throws {
        guard PluginName(self.name) != nil else {
            throw ValidationError("'\(self.name)' is not a name: a letter, then letters, digits and hyphens")
        }
        switch (self.chosen, self.netpath) {
        case (.swift, nil):
            throw ValidationError(
                "a backend in Swift needs the package netpath: add --netpath FOLDER-OR-ADDRESS, or choose --language python"
            )
        case (.python, .some), (.shell, .some):
            throw ValidationError("--netpath is for a backend in Swift: leave it out, or choose --language swift")
        default: break
        }
    }

    var chosen: Language { self.language ?? (self.netpath == nil ? .python : .swift) }

    static let uselessOptions = ["--config", "--set", "--json", "--color"]

    func execute() throws -> ToolStatus {
        guard let name = PluginName(self.name) else { return .usage }
        let types = ToolContext.current.registry.all.map(\.type)
        if let reason = name.obstacle(to: self.chosen, types: types) { throw ToolFailure(.usage, reason) }
        let files =
            switch self.chosen {
            case .swift: PluginTemplate.swift(name, dependency: try self.dependency)
            case .python: PluginTemplate.python(name)
            case .shell: PluginTemplate.shell(name)
            }
        try NewFolder.write(files, to: self.name)
        let commands = self.chosen == .swift ? ["cd \(self.name)", "swift test"] : ["cd \(self.name)", "./test"]
        try ToolContext.current.write("\(self.name) is written. Now:\n" + commands.map { "    \($0)\n" }.joined())
        return .satisfied
    }

    /// The package netpath as a manifest names it.
    private var dependency: (line: String, identity: String) {
        get throws {
            let place = self.netpath ?? ""
            if place.contains("://") || place.hasPrefix("git@") {
                let last = place.split(separator: "/").last ?? ""
                let identity = last.hasSuffix(".git") ? last.dropLast(4) : last
                return (".package(url: \"\(place)\", branch: \"main\")", "\(identity)")
            }
            // The identity of a package in a folder is the folder's name.
            let path = try FileAccess.absolute(place)
            let identity = path.split(separator: "/").last ?? ""
            return (".package(path: \"\(path)\")", "\(identity)")
        }
    }
}

/// A name and what it becomes where other rules apply.
struct PluginName: Hashable, Sendable {
    /// As typed: `modem-watch`.
    let text: String
    /// The type in a configuration: `modemWatch`.
    let type: String
    /// The module: `ModemWatch`.
    let module: String

    /// Checks a name; nil for what cannot be one everywhere.
    init?(_ text: String) {
        let words = text.split(separator: "-", omittingEmptySubsequences: false)
        let isPlain = { (word: Substring) in
            !word.isEmpty && word.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0 & 0xDF) }
        }
        guard words.allSatisfy(isPlain), text.utf8.first.map({ (65...90).contains($0 & 0xDF) }) == true else {
            return nil
        }
        self.text = text
        self.module = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        self.type = self.module.prefix(1).lowercased() + self.module.dropFirst()
    }
}

extension PluginName {
    /// Modules and keywords of Swift.
    private static let language = [
        "Any", "Builtin", "Cxx", "CxxStdlib", "Dispatch", "Distributed", "Foundation", "FoundationEssentials",
        "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc", "Musl", "Observation",
        "Protocol", "RegexBuilder", "Self", "Swift", "Synchronization", "Testing", "Type", "XCTest",
    ]

    /// Modules of netpath, and of the packages that it depends on.
    private static let modules = [
        "ArgumentParser", "Atomics", "CCurl", "CNetPath", "CNetlink", "CYAML", "Collections",
        "Connectivity", "ConnectivityNotifications", "Examples", "GRDB", "HTTPCommand", "LabPeers", "LinuxNetworkPath",
        "MonitorScenarios", "Network", "OfflineRequests", "OfflineScenarios", "OpenCombine", "PluginCommand",
        "QueueCommand", "Reachability", "ServeCommand", "SystemPackage",
    ]

    /// Why a backend cannot be called that, and what to do; nil when it can.
    ///
    /// - Parameters:
    ///   - language: What it is written in.
    ///   - types: The types of backends that there are.
    /// - Returns: A sentence.
    func obstacle(to language: NewPluginCommand.Language, types: [String]) -> String? {
        if types.contains(self.type) {
            return
                "'\(self.text)' is an existing backend (type \(self.type)); choose another name, such as my-\(self.text)"
        }
        guard language == .swift else { return nil }
        // The modules that a package of the name would have. Disks may not tell upper from lower case.
        for module in [self.module, "\(self.module)Command"] {
            let isSame = { (other: String) in other.lowercased() == module.lowercased() }
            let isOfSwift = Self.language.contains(where: isSame)
            guard isOfSwift || module.lowercased().hasPrefix("netpath") || Self.modules.contains(where: isSame)
            else { continue }
            return """
                '\(self.text)' cannot be the name of a package: its module \(module) is \
                \(isOfSwift ? "Swift" : "netpath")'s own; choose another name, such as my-\(self.text)
                """
        }
        return nil
    }
}
