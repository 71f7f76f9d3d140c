// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The public declarations of the facade, as the compiler lists them, beside those of Apple's module.
///
/// `Tests/Fixtures/LinuxNetworkPath/Surface.txt` is Apple's list of what concerns paths, interfaces, endpoints and addresses: a declaration or
/// a conformance more would take a name from applications, one less would break them.
@Suite struct SurfaceTests {
    private struct Graph: Decodable {
        struct Symbol: Decodable {
            struct Identifier: Decodable { let precise: String }
            struct Fragment: Decodable { let spelling: String }
            let identifier: Identifier
            let pathComponents: [String]
            let declarationFragments: [Fragment]
        }

        struct Relationship: Decodable {
            let kind: String
            let source: String
            let target: String
            let targetFallback: String?
        }

        let symbols: [Symbol]
        let relationships: [Relationship]

        /// One line for each declaration, `NWPath | let status: NWPath.Status`, and conformance, `NWPath : Equatable`.
        var lines: Set<String> {
            let names = Dictionary(
                self.symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) },
                uniquingKeysWith: { first, _ in first }
            )
            let declarations = self.symbols.map { symbol in
                let text = symbol.declarationFragments.map(\.spelling).joined()
                return symbol.pathComponents.dropLast().joined(separator: ".") + " | " + text
            }
            // Whatever is nothing else has these.
            let implied = ["Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"]
            let conformances = self.relationships.compactMap { relationship -> String? in
                guard relationship.kind == "conformsTo" else { return nil }
                let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
                if implied.contains(target) { return nil }
                return "\(names[relationship.source] ?? relationship.source) : \(target)"
            }
            return Set(declarations + conformances)
        }
    }

    @Test func nothingIsMissingAndNothingIsAdded() throws {
        let folder = try TemporaryDirectory()
        let products = try URL(fileURLWithPath: MonitorProcess.builtProduct("MonitorScenarios"))
            .deletingLastPathComponent()
        #if arch(arm64)
        let architecture = "aarch64"
        #else
        let architecture = "x86_64"
        #endif
        _ = try ConsumerPackage.execute([
            ProcessInfo.processInfo.environment["SWIFT"] ?? "swift", "symbolgraph-extract",
            "-module-name", "LinuxNetworkPath", "-I", products.appendingPathComponent("Modules").path,
            "-target", "\(architecture)-unknown-linux-gnu", "-output-dir", folder.path,
            "-minimum-access-level", "public", "-skip-synthesized-members",
        ])
        let data = try Data(contentsOf: URL(fileURLWithPath: folder["LinuxNetworkPath.symbols.json"]))
        let declared = try JSONDecoder().decode(Graph.self, from: data).lines
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/LinuxNetworkPath/Surface.txt")
        let apple = try Set(String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init))
        #expect(declared.subtracting(apple).sorted() == [], "added")
        #expect(apple.subtracting(declared).sorted() == [], "missing")
        #expect(apple.count > 200)
    }
}
