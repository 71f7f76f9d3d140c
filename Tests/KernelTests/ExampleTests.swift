// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The programs in `Examples/`, each in a network of its own.
@Suite(.needsNamespaces)
struct ExampleTests {
    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace()
    }

    private func start(_ name: String, _ arguments: [String]) throws -> MonitorProcess {
        // Line by line, though the output is a pipe.
        try self.lab.start("stdbuf", ["-oL", MonitorProcess.builtProduct("Examples"), name] + arguments)
    }

    /// Reads up to a line that contains a text.
    private func expect(_ text: String, from program: MonitorProcess) throws {
        while try !program.nextText().contains(text) {}
    }

    @Test(arguments: ["backend", "code"])
    func changesArePrinted(example: String) throws {
        let program = try self.start("coordinator", [example])
        try self.expect("unsatisfied: there is no network interface besides loopback", from: program)
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        try self.expect("satisfied: IPv4 through wan0", from: program)
    }

    @Test func configurationFileIsFollowed() throws {
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let path = try Watched.write("backends: [{type: netlink}]\n", in: self.lab)
        let program = try self.start("coordinator", ["file", path])
        try self.expect("satisfied: IPv4 through wan0", from: program)
        let ignoring = "backends: [{type: netlink}]\ninterfaces: [{match: {name: wan0}, ignore: true}]\n"
        try Data(ignoring.utf8).write(to: URL(filePath: path), options: .atomic)
        try self.expect("unsatisfied: ", from: program)
        try Data("backends: [{type: nothing}]\n".utf8).write(to: URL(filePath: path), options: .atomic)
        try self.expect("\(path):1:19: error: 'backends[0].type'", from: program)
    }

    @Test func bulletproofRequestSucceedsInTheEnd() throws {
        let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        try self.lab.addFarAddress("192.0.2.1/24", behind: wan)
        try self.lab.runOnFarSide("ip addr add 203.0.113.9/32 dev lo")
        try self.lab.serve("hello", on: 8080, closingFirst: 1)
        let program = try self.start("request", ["203.0.113.9", "8080"])
        try self.expect("waiting: unreachable", from: program)
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        try self.expect("requesting: 203.0.113.9 through wan0", from: program)
        try self.expect("lost: receive", from: program)
        try self.expect("done: hello", from: program)
        #expect(try program.waitForEnd() == 0)
    }

    /// The same over HTTP, by libcurl.
    @Test func bulletproofHTTPRequestSucceedsInTheEnd() throws {
        let wan = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
        try self.lab.addFarAddress("192.0.2.1/24", behind: wan)
        try self.lab.runOnFarSide("ip addr add 203.0.113.9/32 dev lo")
        try self.lab.serve("hello", on: 8080, closingFirst: 1)
        let program = try self.start("request", ["http://203.0.113.9:8080/"])
        try self.expect("waiting: unreachable", from: program)
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: wan)
        try self.expect("requesting: 203.0.113.9 through wan0", from: program)
        try self.expect("lost: ", from: program)
        try self.expect("done: 200 hello", from: program)
        #expect(try program.waitForEnd() == 0)
    }

    /// No network namespace can have a modem, so a rule calls an interface one.
    @Test func bulletproofRequestKeepsOffCellularLinks() throws {
        let rules = "backends: [{type: netlink}]\ninterfaces: [{match: {name: wwan0}, type: cellular}]\n"
        let words = ["203.0.113.9", "8080", "--config=" + (try Watched.write(rules, in: self.lab))]
        let modem = try self.lab.addUplink("wwan0", addresses: ["192.0.2.2/24"])
        try self.lab.addFarAddress("192.0.2.1/24", behind: modem)
        try self.lab.runOnFarSide("ip addr add 203.0.113.9/32 dev lo")
        try self.lab.addDefaultRoute(via: "192.0.2.1", through: modem, metric: 700)
        try self.lab.serve("hello", on: 8080)
        let careless = try self.start("request", words)
        try self.expect("requesting: 203.0.113.9 through wwan0", from: careless)
        #expect(try careless.nextText() == "done: hello")

        let careful = try self.start("request", words + ["--no-cellular"])
        try self.expect("waiting: cellular", from: careful)
        let wired = try self.lab.addUplink("wan0", addresses: ["198.51.100.2/24"])
        try self.lab.addFarAddress("198.51.100.1/24", behind: wired)
        try self.lab.addDefaultRoute(via: "198.51.100.1", through: wired, metric: 100)
        #expect(try careful.nextText().hasPrefix("requesting: 203.0.113.9 through wan0"))
        #expect(try careful.nextText() == "done: hello")
        #expect(try careful.waitForEnd() == 0)
    }

    @Test(arguments: [["203.0.113.9", "8080"], ["http://203.0.113.9:8080/"]])
    func bulletproofRequestCanBeCancelled(_ words: [String]) throws {
        let program = try self.start("request", words)
        try self.expect("waiting: unreachable", from: program)
        program.sendSignal(.interrupt)
        try self.expect("failed: cancelled", from: program)
        #expect(try program.waitForEnd() == 0)
    }
}
