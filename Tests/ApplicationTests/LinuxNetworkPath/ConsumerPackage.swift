// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Testing

/// Packages that depend on this one, built one after the other, since they share a folder.
@Suite(.serialized)
enum ConsumerPackageTests {}

/// A package that depends on this one, built apart.
struct ConsumerPackage {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder of this repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The compiler's package manager.
    static let swift = ProcessInfo.processInfo.environment["SWIFT"] ?? "swift"

    /// In CI, the options with which the tests were built.
    ///
    /// What is built for debugging is built in the same folder with the same options, so that no module is compiled a second
    /// time. Elsewhere a folder of its own keeps the plan of the tests' build.
    private static let testOptions = ProcessInfo.processInfo.environment["NETPATH_TEST_OPTIONS"]?.split(separator: " ")
        .map(String.init)

    /// The folder that the tests are built in.
    private static let testFolder = Self.root.appendingPathComponent(".build")

    /// What the builds printed.
    let log: String
    private let products: URL

    /// Builds a package of this repository as `swift build` does without further flags.
    ///
    /// Packages share a folder for each configuration, so that each module of netpath is compiled once in it, where they ask
    /// for the same traits; one is built at a time.
    ///
    /// - Parameters:
    ///   - folder: The package.
    ///   - hidden: A module that an earlier package left in the folder, and that the compiler must not find.
    ///   - program: A product of netpath itself that is built besides.
    ///   - configuration: How it is built.
    ///   - scratch: Names a folder of its own, for a package that asks for other traits.
    ///   - options: Options of `swift build`; with them it has a folder of its own.
    /// - Throws: ``Failure`` with the end of what a build printed.
    init(
        _ folder: String,
        without hidden: String? = nil,
        program: String? = nil,
        configuration: String = "release",
        scratch: String? = nil,
        _ options: [String] = []
    ) throws {
        let build = Self.scratch(scratch ?? (options.isEmpty ? configuration : "with-options"))
        self.products = build.appendingPathComponent(configuration)
        if let hidden {
            let module = self.products.appendingPathComponent("Modules/\(hidden).swiftmodule")
            try? FileManager.default.removeItem(at: module)
        }
        let package = Self.root.appendingPathComponent(folder).path
        let command = Self.swift("build", at: package, scratch: build.path, configuration)
        let products = [[]] + [program].compactMap(\.self).map { ["--product", $0] }
        self.log = try products.map { try Self.execute(command + options + $0) }.joined()
    }

    /// The folder for what is built in a configuration.
    static func scratch(_ configuration: String) -> URL {
        if configuration == "debug", self.testOptions != nil { return self.testFolder }
        return self.testFolder.appendingPathComponent("packages-\(configuration)")
    }

    /// A command of SwiftPM.
    static func swift(_ command: String, at package: String, scratch: String, _ configuration: String) -> [String] {
        let own = [
            self.swift, command, "-c", configuration, "--package-path", package, "--scratch-path", scratch,
            // SwiftPM 6.3 takes the plan of the package that was built there before, and does not make this one's program.
            "--disable-build-manifest-caching",
        ]
        guard scratch == Self.testFolder.path, let testOptions = Self.testOptions else { return own }
        return ["NETPATH_CI=1"] + own + testOptions
    }

    /// The application of README.md.
    static func connected(_ options: String...) throws -> ConsumerPackage {
        try ConsumerPackage("Tests/Packages/Connected", options)
    }

    /// The lines of the log that warn; what swiftc says of CI's own options is none.
    var warnings: [Substring] {
        self.log.split(separator: "\n").filter {
            $0.contains("warning:") && !$0.contains(#/whole[- ]module[- ]optimization/#)
        }
    }

    /// The modules that the compiler finds in this build.
    var modules: Set<String> {
        let folder = self.products.appendingPathComponent("Modules").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(names.filter { $0.hasSuffix(".swiftmodule") }.map { String($0.dropLast(".swiftmodule".count)) })
    }

    func program(_ name: String) -> String { self.products.appendingPathComponent(name).path }

    /// Runs a program until its end, and returns its lines.
    func run(_ name: String) throws -> [String] {
        try Self.execute([self.program(name)]).split(separator: "\n").map(String.init)
    }

    /// The names of the shared libraries that a program is linked with, directly or not.
    func libraries(of name: String) throws -> Set<String> {
        let lines = try Self.execute(["ldd", self.program(name)]).split(separator: "\n")
        return Set(lines.compactMap { $0.split(separator: " ").first.map { $0.trimmingCharacters(in: .whitespaces) } })
    }

    static func execute(_ command: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        // What consumers do not have either.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "NETPATH_CI" }
        let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        guard FileManager.default.createFile(atPath: output.path, contents: nil) else {
            throw Failure(description: "cannot create \(output.path)")
        }
        defer { try? FileManager.default.removeItem(at: output) }
        // A file and not a pipe: nobody would empty it while this waits.
        let file = try FileHandle(forWritingTo: output)
        process.standardOutput = file
        process.standardError = file
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOf: output, encoding: .utf8)
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(command.joined(separator: " ")) failed:\n\(text.suffix(4_000))")
        }
        return text
    }
}
