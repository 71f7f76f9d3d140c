// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

extension ConsumerPackageTests {
    /// The trait `OpenCombine`, as a package that asks for it, and what it means for those who do not.
    struct CombineTests {
        @Test(.needsNamespaces) func publishersFollowTheKernel() throws {
            let package = try ConsumerPackage("Tests/Packages/Combine", configuration: "debug", scratch: "combine")
            let (lab, wan) = try NetworkNamespace.online()
            let program = try lab.start(package.program("App"), [])
            var seen: [String] = []
            // What comes in between is up to the order of two queues.
            func wait(for awaited: Set<String>) throws {
                var lines: [String] = []
                while !awaited.isSubset(of: lines) { try lines.append(program.nextText()) }
                seen += lines
            }
            try wait(for: ["connected true", "via Ethernet", "once 1"])
            try wan.setDown()
            try wait(for: ["connected false", "not connected", "published false"])
            #expect(seen.contains("will change"))
            try wan.setUp()
            try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
            try wait(for: ["connected true", "via Ethernet", "published true"])
            #expect(!seen.contains("once 2"))
        }
    }
}
