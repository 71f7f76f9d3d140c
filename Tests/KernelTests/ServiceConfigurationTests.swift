// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A service whose configuration is refused, at a reload and at a start.
@Suite(.needsNamespaces)
struct ServiceConfigurationTests {
    private let place: ServiceLab
    private let file: String
    private let notify: String

    init() throws {
        self.place = try ServiceLab()
        self.file = "\(self.place.lab.directory)/netpath.yaml"
        self.notify = "\(self.place.lab.directory)/notify"
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: self.file)) }

    private func start() throws -> MonitorProcess {
        try self.place.start(["NOTIFY_SOCKET": self.notify], "--config", self.file)
    }

    private func isExpensive() throws -> String {
        // After what is said of the configuration, and before the exit status.
        String(try self.place.ask("status --service --field isExpensive").split(separator: "\n").dropLast().last ?? "")
    }

    private static let good =
        "logging: {level: info}\ninterfaces: [{match: {name: wan0}, expensive: true}]\n"
        + "hooks: [{name: told, command: [/usr/bin/touch, @/told]}]\n"
    private static let bad = "interfaces: [{match: {name: wan0}, expensive: maybe}]\n"

    @Test func theLastGoodOneGoesOn() throws {
        let manager = try SocketClient(receivingAt: self.notify)
        let good = Self.good.replacing("@", with: self.place.lab.directory)
        try self.write(good)
        var service = try self.start()
        #expect(try self.isExpensive() == "true")
        // At a change of the file.
        try self.write(Self.bad)
        try self.place.message("netpath.yaml:1:47: error", in: service)
        let words = "; the configuration on disk is refused, and \(self.file) as it was before is in force: "
        try manager.await("\(words)\(self.file):1:47")
        #expect(try self.place.ask("status --service").contains("the configuration on disk is refused"))
        #expect(try self.isExpensive() == "true")
        try service.stop(signal: .kill)
        // At a start; the hooks are there, too.
        try self.place.lab.run("rm -f \(self.place.lab.directory)/told")
        service = try self.start()
        try self.place.message("last-good.yaml is in force instead: \(self.file):1:47: error", in: service)
        #expect(try self.isExpensive() == "true")
        #expect(try self.place.ask("hooks").contains("told"))
        // When it is right again.
        try self.write(good.replacing("true", with: "false"))
        try self.place.message("; it is valid again and in use", in: service)
        #expect(service.standardError.contains("warning: configuration read again from"))
        let deadline = ContinuousClock.now + .seconds(60)
        while try self.isExpensive() != "false" { try #require(ContinuousClock.now < deadline) }
        #expect(try !self.place.ask("status --service").contains("refused"))
        #expect(try service.stop() == 0)
    }

    @Test func aFileOfANewerVersion() throws {
        try self.write("version: 99.0\nfuture: {a: 1}\n")
        let check = try self.place.ask("config check \(self.file)")
        #expect(check.contains("netpath.yaml:2:1: warning: unknown key 'future' is skipped"), "\(check)")
        #expect(check.hasSuffix("status 0"))
        let strict = try self.place.ask("config check --strict \(self.file)")
        #expect(strict.hasSuffix("status 78") && strict.contains("with --strict, warnings are errors"), "\(strict)")
        let service = try self.start()
        #expect(try self.place.ask("status --service --quiet").hasSuffix("status 0"))
        #expect(try service.stop() == 0)
    }

    /// One that says nothing is none, nor is one that another user may have written.
    @Test(arguments: ["echo '# nothing' >", "umask 0; echo 'interfaces: [{match: {name: wan0}, expensive: true}]' >"])
    func withoutALastGoodOneTheDefaultDoes(_ command: String) throws {
        try self.write(Self.bad)
        let state = "\(self.place.lab.directory)/state/netpath"
        try self.place.lab.run("mkdir -p \(state); (\(command)\(state)/last-good.yaml)")
        let service = try self.start()
        try self.place.message("the embedded default is in force instead", in: service)
        #expect(try self.place.ask("wait --service --timeout 10s").hasSuffix("status 0"))
        #expect(try service.stop() == 0)
        // A person is told.
        #expect(try self.place.ask("run --config \(self.file)").hasSuffix("status 78"))
    }
}
