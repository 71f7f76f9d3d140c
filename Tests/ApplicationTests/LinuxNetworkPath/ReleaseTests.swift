// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

extension ConsumerPackageTests {
    /// What applications get: every product, small, and nothing fetched that they do not use.
    struct ReleaseTests {
        private static func text(_ file: String) throws -> String {
            try String(contentsOf: ConsumerPackage.root.appendingPathComponent(file), encoding: .utf8)
        }

        /// The block of Swift of README.md that contains a text.
        private static func readme(_ text: String) throws -> String {
            let blocks = try Self.text("README.md").components(separatedBy: "```swift\n").dropFirst()
            return try #require(
                blocks.compactMap { $0.components(separatedBy: "```").first }.first { $0.contains(text) }
            )
        }

        /// Every library product, in both language modes, and `netpath`; NETPATH_PRODUCTS_CONFIGURATION
        /// (debug) says in which configuration.
        @Test(.needsNamespaces) func everyProductRuns() throws {
            let manifest = try Self.text("Package.swift")
            let products = try #require(manifest.firstMatch(of: #/products: \[(.*?)\]\.map/#.dotMatchesNewlines()))
            let names = products.1.matches(of: #/"(\w+)"/#).map { String($0.1) }
            #expect(names.count >= 21)
            let consumer = try Self.text("Tests/Packages/Products/Package.swift")
            for name in names { #expect(consumer.contains("\"\(name)\""), "\(name) is in no package that is built") }

            let configuration = ProcessInfo.processInfo.environment["NETPATH_PRODUCTS_CONFIGURATION"] ?? "debug"
            let folder = "Tests/Packages/Products"
            let package = try ConsumerPackage(folder, program: "netpath", configuration: configuration)
            #expect(package.warnings == [])
            let (lab, _) = try NetworkNamespace.online()
            for program in ["Products", "ProductsInSwift5"] {
                let process = try lab.start(package.program(program), [])
                var lines: [String] = []
                while lines.last?.hasPrefix("tool:") != true {
                    try lines.append(process.nextText(timeout: .seconds(60)))
                }
                for line in ["backends: 6", "path: true", "explained: true", "connected: true", "path monitor: true"] {
                    #expect(lines.contains(line), "\(program): \(lines)")
                }
            }
            #expect(try lab.run("\(package.program("netpath")) --json").contains("satisfied"))
        }

        /// With a trait for each product that needs one, and none for the others.
        @Test(
            arguments: [
                ("Connectivity", "", []), ("Reachability", "", []), ("Network", "", []), ("NetPath", "", []),
                ("OfflineRequests", "\"OfflineRequests\"", ["GRDB.swift"]),
                ("NetPathCLI", "\"CommandLine\"", ["swift-argument-parser"]),
            ] as [(String, String, [String])]
        )
        func whatIsFetched(product: String, traits: String, fetched: [String]) throws {
            let folder = try TemporaryDirectory()
            try folder.write(
                "App/Package.swift",
                """
                // swift-tools-version: 6.2
                import PackageDescription
                let package = Package(
                    name: "App",
                    dependencies: [.package(name: "netpath", path: "\(ConsumerPackage.root.path)", traits: [\(traits)])],
                    targets: [
                        .executableTarget(name: "App", dependencies: [.product(name: "\(product)", package: "netpath")])
                    ]
                )
                """
            )
            try folder.write("App/Sources/App/main.swift", "import \(product)")
            // A folder of its own: checkouts stay when traits change.
            _ = try ConsumerPackage.execute([
                ConsumerPackage.swift, "package", "--package-path", folder["App"], "--scratch-path", folder["scratch"],
                "resolve",
            ])
            let checkouts = try? FileManager.default.contentsOfDirectory(atPath: folder["scratch/checkouts"])
            #expect(checkouts ?? [] == fetched)
        }

        /// The program and the manifest of README.md, and the one with Apple's API.
        @Test func theProgramOfTheReadmeIsBuilt() throws {
            let program = try Self.text("Tests/Packages/Connected/Sources/App/main.swift")
            #expect(try program.hasSuffix(Self.readme("NetworkMonitor.")))
            let manifest = try Self.readme("PackageDescription")
            #expect(manifest.contains("path: \"../netpath\", traits: [])"))

            #expect(try ConsumerPackage.connected().warnings == [])
        }

        /// With the standard library linked statically, which compiles everything once more.
        @Test func theStaticProgramOfTheReadmeIsSmall() throws {
            let package = try ConsumerPackage.connected("--static-swift-stdlib")
            // Foundation's own mktemp is not ours to warn of.
            #expect(package.warnings.filter { !$0.contains("mktemp") } == [])
            let folder = try TemporaryDirectory()
            func size(of program: String) throws -> Int {
                _ = try ConsumerPackage.execute(["strip", "-o", folder[program], package.program(program)])
                return try #require(FileManager.default.attributesOfItem(atPath: folder[program])[.size] as? Int)
            }
            let (app, pathApp) = try (size(of: "App"), size(of: "PathApp"))
            print("stripped, static: Connectivity \(app / 1_000) kB, Network \(pathApp / 1_000) kB")
            #expect(app <= 15_000_000)
            #expect(pathApp <= 22_000_000)
        }
    }
}
