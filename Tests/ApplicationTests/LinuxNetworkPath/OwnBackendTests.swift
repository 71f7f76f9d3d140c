// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

extension ConsumerPackageTests {
    /// The example of a backend of one's own, in a package of its own.
    @Suite(.needsNamespaces)
    struct OwnBackendTests {
        private let lab: NetworkNamespace
        private let tool: String

        init() throws {
            self.lab = try NetworkNamespace()
            let examples = try ConsumerPackage("Examples/Applications", configuration: "debug")
            self.tool = examples.program("OwnBackend")
        }

        private func write(_ configuration: String) throws -> String {
            let path = "\(self.lab.directory)/netpath-\(UUID().uuidString).yaml"
            try configuration.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }

        @Test func backendOfOnesOwnIsConfiguredByName() throws {
            let flag = "\(self.lab.directory)/flag"
            let path = try self.write("backends: [{type: flagFile, path: \(flag), interval: 100ms}]\n")
            let program = try self.lab.start(self.tool, ["watch", "--json", "--config", path])
            try program.next { $0["status"]?.string == "unsatisfied" }
            try self.lab.run("touch \(flag)")
            try program.next { $0["status"]?.string == "satisfied" }
            let wrong = try self.write("backends: [{type: flagFile, pth: /x}]\n")
            let output = try self.lab.run("\(self.tool) config check \(wrong) 2>&1; echo $?")
            #expect(output.contains("unknown key 'pth' in 'backends[0]' (did you mean 'path'?)"))
            #expect(output.hasSuffix("78\n"))
        }

        /// What it states is shown as its word, beside netlink, which shows what there is.
        @Test func backendOfOnesOwnStatesItsConclusionBesideNetlink() throws {
            try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
            let flag = "\(self.lab.directory)/flag"
            let own = "{type: flagFile, path: \(flag), interface: wan0, interval: 100ms}"
            let first = try self.write("backends: [\(own), {type: netlink}]\n")
            let tool = self.tool
            func ask(_ words: String) throws -> String {
                try self.lab.run("\(tool) \(words) --config \(first) 2>&1; echo $?")
            }

            let screen = try ask("status")
            #expect(screen.hasPrefix("UNSATISFIED  \(flag) is missing (stated by flagFile)"))
            #expect(screen.contains("healthy: states unsatisfied, \(flag) is missing"))
            #expect(screen.contains("disagrees with the path"))
            let explanation = try ask("explain")
            #expect(explanation.contains("Stated, not worked out (flagFile)"))
            #expect(explanation.contains("netpath cannot explain it"))
            #expect(!explanation.contains("What would help"))
            let comparison = try ask("compare")
            #expect(comparison.contains("flagFile states its conclusion and shows no evidence"))
            #expect(!comparison.contains("missed an event"))

            let program = try self.lab.start(tool, ["watch", "--json", "--config", first])
            try program.next { $0["status"]?.string == "unsatisfied" && $0["statedBy"]?.string == "flagFile" }
            try self.lab.run("touch \(flag)")
            let path = try program.next { $0["status"]?.string == "satisfied" }
            #expect(path["reason"]?["code"]?.string == "stated")
            #expect(path["interfaces"]?[0]?["name"]?.string == "wan0")
            #expect(path["interfaces"]?[0]?["type"]?.string == "wired", "known to netlink")
            #expect(path["supportsIPv4"] == .null)

            let second = try self.write("backends: [{type: netlink}, \(own)]\n")
            let below = try self.lab.start(tool, ["watch", "--json", "--config", second])
            let worked = try below.next { $0["status"]?.string == "satisfied" }
            #expect(worked["statedBy"] == .null)
            #expect(worked["reason"]?["code"]?.string == "routed")
        }
    }
}
