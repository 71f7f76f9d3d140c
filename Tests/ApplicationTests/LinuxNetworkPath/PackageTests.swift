// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

extension ConsumerPackageTests {
    /// The three ways to depend on the facade, each as a package that does it, and the examples.
    struct PackageTests {
        @Test func aliasInTheDependency() throws {
            let package = try ConsumerPackage("Tests/Packages/Aliased", without: "Network")
            let lines = try package.run("App")
            #expect(lines.contains("imports Network: true"))
            #expect(lines.contains("nothing added: true"))
            #expect(lines.contains("sibling unaffected: true"))
            #expect(package.modules.contains("NetPathNetwork"))
            // Where the compiler answers canImport(Network).
            #expect(!package.modules.contains("Network"))
        }

        @Test func flagInEveryTarget() throws {
            let package = try ConsumerPackage("Tests/Packages/Flagged", without: "Network")
            let lines = try package.run("App")
            #expect(lines.contains("sibling unaffected: true"))
            #expect(!package.modules.contains("Network"))
            // What comes with the facade: neither all of Foundation nor a reader of configuration files.
            let libraries = try package.libraries(of: "App")
            #expect(libraries.contains("libFoundationEssentials.so"))
            for library in ["libFoundation.so", "lib_FoundationICU.so", "libyaml-0.so.2"] {
                #expect(!libraries.contains(library))
            }
        }

        @Test func asItIs() throws {
            let package = try ConsumerPackage("Tests/Packages/Plain")
            #expect(try package.run("App").contains { $0.hasPrefix("online:") })
            #expect(package.modules.contains("Network"))
        }

        @Test func aServiceIsOneLine() throws {
            let package = try ConsumerPackage("Tests/Packages/Service", configuration: "debug")
            let lines = try package.run("App")
            #expect(lines.contains { $0.hasPrefix("path:") })
            #expect(lines.last == "stopped: true")
        }

        @Test func bothFacadesAreTheSame() throws {
            let texts = try ["Network", "NetPathNetwork"].map { module in
                let file = ConsumerPackage.root.appendingPathComponent("Sources/\(module)/Network.swift")
                return try String(contentsOf: file, encoding: .utf8)
            }
            #expect(texts[0] == texts[1])
        }

        @Test(.needsNamespaces) func exampleSingleton() throws {
            let package = try ConsumerPackage("Examples/Applications", configuration: "debug")
            let (lab, wan) = try NetworkNamespace.online()
            let program = try lab.start(package.program("NetworkCheck"), [])
            #expect(try program.nextText() == "connected (ethernet)")
            try wan.setDown()
            #expect(try program.nextText() == "∆ No Network")
            try wan.setUp()
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
            #expect(try program.nextText() == "connected (ethernet)")
        }

        @Test(.needsNamespaces) func exampleScreen() throws {
            let package = try ConsumerPackage("Examples/Applications", configuration: "debug")
            let (lab, wan) = try NetworkNamespace.online()
            let program = try lab.start(package.program("NetworkScreen"), [])
            try wan.setDown()
            #expect(try program.nextText() == "present NetworkViewController")
            try wan.setUp()
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
            #expect(try program.nextText() == "dismiss NetworkViewController")
        }
    }
}
