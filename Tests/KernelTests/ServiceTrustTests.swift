// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

private let canBecomeOthers =
    geteuid() == 0 && (try? shell("setpriv --reuid 65534 --clear-groups id -u").contains("65534")) == true

@discardableResult
private func shell(_ script: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
}

/// What a service without privileges takes orders from: files of root's, and not what its own user may write.
///
/// As root, who can become other users; not in a namespace of users, which has none besides.
@Suite(.enabled(if: canBecomeOthers, "needs root, who can become other users"))
struct ServiceTrustTests {
    private let folder: TemporaryDirectory
    private var home: String { self.folder["home"] }

    init() throws {
        self.folder = try TemporaryDirectory(in: "/run")
        try self.folder.write(
            "home/.config/netpath/netpath.yaml",
            "hooks:\n  - {name: planted, command: [/bin/sh, -c, 'echo it ran']}\n"
        )
        try self.folder.write("home/plugin", "#!/bin/sh\n")
        try self.folder.write(
            "netpath.yaml",
            "backends:\n  - type: netlink\n  - {type: exec, name: mine, command: [\(self.home)/plugin]}\n"
        )
        try shell(
            "chmod 755 \(self.folder.path) \(self.home) \(self.home)/plugin && chown -R 65534:65534 \(self.home)"
        )
    }

    /// Runs netpath as another user, and tells its exit status on the last line.
    private func run(_ user: Int, _ arguments: String) throws -> String {
        let folders = "HOME=\(self.home) RUNTIME_DIRECTORY=\(self.home)/run STATE_DIRECTORY=\(self.home)/state"
        // A service that started nevertheless is ended.
        let program = try "env \(folders) timeout 20 \(Watched.program)"
        return try shell(
            "setpriv --reuid \(user) --regid 65534 --clear-groups \(program) \(arguments) 2>&1; echo \"status $?\""
        )
    }

    @Test func theHomeOfAServiceIsNoPlaceForItsConfiguration() throws {
        let service = try self.run(65_534, "config show")
        #expect(service.contains("status 0") && !service.contains("planted"), "\(service)")
    }

    @Test func aFileOfTheServicesUserNamesNoCommand() throws {
        let answer = try self.run(65_534, "run --config \(self.home)/.config/netpath/netpath.yaml")
        #expect(answer.contains("cannot come from a file that others than root can write to"), "\(answer)")
        #expect(answer.hasSuffix("status 78\n"), "\(answer)")
    }

    @Test func aProgramOfTheServicesUserIsNotRun() throws {
        let answer = try self.run(65_534, "status --probe --json --timeout 5s --config \(self.folder["netpath.yaml"])")
        #expect(answer.contains("'\(self.home)' belongs to another user than root; chown it to root"), "\(answer)")
    }

    /// The user of the page's server is another one than the service's, and reads what that kept.
    @Test func theServerTakesTheLastGoodConfigurationOfTheService() throws {
        let program = try MonitorProcess.builtProduct("netpath-serve")
        let answer = try shell(
            """
            unshare -mn sh -ec '
                mount -t tmpfs -o mode=777 tmpfs /var/lib
                cd /var/lib
                mkdir -m 750 netpath
                echo "logging: {level: info}" >netpath/last-good.yaml
                echo "merge: wrong" >wrong.yaml
                chmod 640 netpath/last-good.yaml
                chown -R 65533:65534 netpath
                export NOTIFY_SOCKET=/var/lib/none
                exec timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups \(program) serve --standalone \
                    --config /var/lib/wrong.yaml --textfile /var/lib/netpath.prom'; echo "status $?"
            """
        )
        let sentence = "/var/lib/netpath/last-good.yaml is in force instead: /var/lib/wrong.yaml:1:8"
        #expect(answer.contains(sentence) && answer.hasSuffix("status 0\n"), "\(answer)")
    }
}
