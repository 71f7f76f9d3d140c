// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A configuration that is replaced while `netpath watch` runs with it.
@Suite(.needsNamespaces)
struct ReloadTests {
    private static let plain = "backends: [{type: netlink}]\nlogging: {level: info}\n"
    /// The path becomes expensive: what tells in the output that a configuration is in force.
    private static let expensive = plain + "interfaces: [{match: {name: wan0}, expensive: true}]\n"

    private let lab: NetworkNamespace

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private func path(_ name: String) -> String { "\(self.lab.directory)/\(name)" }

    private func write(_ text: String, to name: String) throws {
        // In place, as `echo >file` does.
        try Data(text.utf8).write(to: URL(filePath: self.path(name)))
    }

    private func watch(_ name: String = "netpath.yaml", _ more: String...) throws -> MonitorProcess {
        let monitor = try self.lab.start(Watched.program, ["watch", "--json", "--config", self.path(name)] + more)
        try monitor.next { $0["status"]?.string == "satisfied" }
        return monitor
    }

    private func message(_ text: String, in monitor: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !monitor.standardError.contains(text) {
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(monitor.standardError)")
            usleep(10_000)
        }
    }

    @Test func writtenInPlaceRenamedOverAndRemoved() throws {
        try self.write(Self.plain, to: "netpath.yaml")
        let monitor = try self.watch()
        try self.write(Self.expensive, to: "netpath.yaml")
        try monitor.next { $0["isExpensive"] == true }
        try self.write(Self.plain, to: "new.yaml")
        try self.lab.run("mv new.yaml netpath.yaml".inFolder(self.lab))
        let line = try monitor.next { $0["isExpensive"] == false }
        // Only the settings changed, so the backend was not started again.
        #expect(line["backends"]?.elements.first?["restarts"]?.number == 0)
        #expect(line["status"]?.string == "satisfied")
        try self.lab.run("rm netpath.yaml".inFolder(self.lab))
        try self.message("does not exist", in: monitor)
        try self.write(Self.expensive, to: "netpath.yaml")
        try monitor.next { $0["isExpensive"] == true }
        #expect(monitor.standardError.contains("info: configuration read again from"))
    }

    @Test func symbolicLinkIsSwitchedAsKubernetesDoes() throws {
        for (number, text) in [Self.plain, Self.expensive].enumerated() {
            try self.lab.run("mkdir ..\(number)".inFolder(self.lab))
            try self.write(text, to: "..\(number)/netpath.yaml")
        }
        try self.lab.run("ln -s ..0 ..data; ln -s ..data/netpath.yaml netpath.yaml".inFolder(self.lab))
        let monitor = try self.watch()
        try self.lab.run("ln -s ..1 ..tmp; mv -T ..tmp ..data; rm -r ..0".inFolder(self.lab))
        try monitor.next { $0["isExpensive"] == true }
    }

    /// It may be about to be written.
    @Test func aFileThatBecomesEmptyChangesNothing() throws {
        try self.write(Self.expensive, to: "netpath.yaml")
        let monitor = try self.watch()
        try self.write("", to: "netpath.yaml")
        try self.message("netpath.yaml is empty; send SIGHUP to use it anyway", in: monitor)
        try self.write(Self.plain, to: "netpath.yaml")
        try monitor.next { $0["isExpensive"] == false }
    }

    @Test func errorsAreReportedAndChangeNothing() throws {
        try self.write(Self.expensive, to: "netpath.yaml")
        let monitor = try self.watch()
        try self.write("backends:\n  - type: netlnk\ngrace: soon\n", to: "netpath.yaml")
        try self.message("netpath.yaml:2:11: error: 'backends[0].type'", in: monitor)
        try self.message("netpath.yaml:3:8: error: 'grace'", in: monitor)
        #expect(monitor.standardError.contains("the old configuration stays in force"))
        // It still runs with the old one.
        try self.lab.ip("link set wan0 down")
        try monitor.next { $0["status"]?.string == "unsatisfied" }
        try self.lab.ip("link set wan0 up")
        try self.lab.ip("route add default via 192.0.2.1")
        try monitor.next { $0["status"]?.string == "satisfied" && $0["isExpensive"] == true }
    }

    @Test func hangUpReadsAgainAndOverridesStay() throws {
        try self.write(Self.plain, to: "netpath.yaml")
        let monitor = try self.watch("netpath.yaml", "--set", "logging.level=debug")
        monitor.sendSignal(.hangUp)
        let place = self.path("netpath.yaml")
        try self.message("info: configuration read again from \(place): nothing changed", in: monitor)
        try self.write(Self.expensive.replacing("level: info", with: "level: error"), to: "netpath.yaml")
        try monitor.next { $0["isExpensive"] == true }
        monitor.sendSignal(.hangUp)
        // The file asks for silence; the command line wins.
        try self.message("settings changed", in: monitor)
    }

    @Test func hangUpLooksForAFileAnew() throws {
        let folder = self.path("home")
        let monitor = try self.lab.start(
            Watched.program,
            ["watch", "--json", "--set", "logging.level=info"],
            environment: ["XDG_CONFIG_HOME": folder]
        )
        try monitor.next { $0["status"]?.string == "satisfied" }
        try self.lab.run("mkdir -p home/netpath".inFolder(self.lab))
        try self.write(Self.expensive, to: "home/netpath/netpath.yaml")
        monitor.sendSignal(.hangUp)
        try monitor.next { $0["isExpensive"] == true }
        // From now on that file is followed.
        try self.write(Self.plain, to: "home/netpath/netpath.yaml")
        try monitor.next { $0["isExpensive"] == false }
    }

    @Test func changedOptionStartsTheBackendAnewWithoutAWordOfLoss() throws {
        try self.write(Self.plain, to: "netpath.yaml")
        let monitor = try self.watch()
        try self.write(
            Self.expensive.replacing("{type: netlink}", with: "{type: netlink, receiveBuffer: 65536}"),
            to: "netpath.yaml"
        )
        var statuses: Set<String> = []
        try monitor.next { line in
            statuses.insert(line["status"]?.string ?? "null")
            return line["isExpensive"] == true
        }
        #expect(statuses == ["satisfied"])
        try self.message("restarted: netlink; settings changed", in: monitor)
    }

    @Test func followingCostsNothingWhileNothingHappens() throws {
        try self.write(Self.plain, to: "netpath.yaml")
        let monitor = try self.watch()
        try self.write(Self.expensive, to: "netpath.yaml")
        try monitor.next { $0["isExpensive"] == true }
        #expect(try monitor.contextSwitches(in: .seconds(4)) == 0)
    }
}

extension String {
    /// A command that runs in the namespace's own folder.
    fileprivate func inFolder(_ lab: NetworkNamespace) -> String { "cd \(lab.directory) && { \(self); }" }
}
