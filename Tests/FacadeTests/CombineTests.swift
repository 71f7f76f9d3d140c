// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// The trait `OpenCombine`, as a package that asks for it, and what it means for those who do not.
@Suite(.serialized)
struct CombineTests {
    @Test(.needsNamespaces) func publishersFollowTheKernel() throws {
        // A folder of its own: modules compiled with the trait are not those of the others.
        let package = try ConsumerPackage("Tests/Packages/Combine", scratch: "packages-combine")
        let (lab, wan) = try NetworkNamespace.online()
        let program = try lab.start(package.program("App"), [])
        // What is published on the way to the first path is up to the order of two queues.
        func lines(until awaited: Set<String>) throws -> [String] {
            var lines: [String] = []
            while !awaited.isSubset(of: lines) { try lines.append(program.nextText()) }
            return lines
        }
        _ = try lines(until: ["connected true", "via Ethernet", "once 1"])
        try wan.setDown()
        _ = try lines(until: ["connected false", "not connected", "published false", "will change"])
        try wan.setUp()
        try lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        let last = try lines(until: ["connected true", "via Ethernet", "published true"])
        #expect(!last.contains("once 2"))
    }
}
