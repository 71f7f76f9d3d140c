// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// `netpath serve` as a program.
@Suite(.needsNamespaces)
struct ServeProgramTests {
    private let lab: NetworkNamespace
    private var socket: String { "\(self.lab.directory)/http.sock" }
    private var file: String { "\(self.lab.directory)/token" }

    init() throws {
        self.lab = try NetworkNamespace()
        try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
    }

    private func write(_ token: String, mode: String = "600") throws {
        try token.write(toFile: self.file, atomically: true, encoding: .utf8)
        try self.lab.run("chmod \(mode) \(self.file)")
    }

    private func start() throws -> MonitorProcess {
        let arguments = ["serve", "--standalone", "--listen", self.socket, "--token-file", self.file]
        let server = try self.lab.start(try MonitorProcess.builtProduct("netpath-serve"), arguments)
        try self.message("listening on", in: server)
        return server
    }

    private func message(_ text: String, in server: MonitorProcess) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !server.standardError.contains(text) {
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(server.standardError)")
            try #require(server.isRunning || server.standardError.contains(text), "\(server.standardError)")
            usleep(10_000)
        }
    }

    private func status(_ token: String) throws -> String {
        let client = try SocketClient(self.socket)
        let fields = "Host: localhost\r\nAuthorization: Bearer \(token)\r\nConnection: close"
        try client.write("GET /status HTTP/1.1\r\n\(fields)\r\n\r\n")
        return try String(client.readToEnd().prefix(12))
    }

    /// A token that is known to others has to be of no use once there is another one.
    @Test func aReloadTakesTheNewToken() throws {
        let (old, new) = ("0123456789abcdef-old", "0123456789abcdef-new")
        try self.write(old)
        let server = try self.start()
        #expect(try self.status(old) == "HTTP/1.1 200")
        try self.write(new)
        server.sendSignal(.hangUp)
        try self.message("the access settings are read again", in: server)
        #expect(try self.status(old) == "HTTP/1.1 401")
        #expect(try self.status(new) == "HTTP/1.1 200")
        // What cannot be used changes nothing.
        try self.write("0123456789abcdef-public", mode: "644")
        server.sendSignal(.hangUp)
        try self.message("the access settings stay as they were: the file with the token", in: server)
        #expect(try self.status(new) == "HTTP/1.1 200")
        #expect(try server.stop() == 0)
    }

    /// Errors in the configuration are said without the lines that they quote, as everywhere in a log.
    @Test func aReloadWithAMisspeltKeySaysSoOnALine() throws {
        let place = try ServiceLab()
        let service = try place.start()
        let file = "\(place.lab.directory)/serve.yaml"
        try "serve: {showHostName: false}\n".write(toFile: file, atomically: true, encoding: .utf8)
        let program = try MonitorProcess.builtProduct("netpath-serve")
        let words = ["serve", "--config", file, "--listen", "\(place.lab.directory)/http.sock"]
        let server = try place.lab.start(program, words, environment: place.environment)
        try self.message("attached to the service, listening on", in: server)
        try "serve:\n  showHostNam: true\n".write(toFile: file, atomically: true, encoding: .utf8)
        server.sendSignal(.hangUp)
        try self.message("the access settings stay as they were: \(file):2:3: error: unknown key", in: server)
        #expect(try server.stop() == 0)
        #expect(!server.standardError.contains("u{A}"), "\(server.standardError)")
        #expect(try service.stop() == 0)
    }

    /// With few descriptors it takes fewer connections, and closes the others instead of accepting in vain.
    @Test func withFewDescriptorsItRefusesConnections() throws {
        let program = try MonitorProcess.builtProduct("netpath-serve")
        let command = "ulimit -n 32; exec \(program) serve --standalone --listen \(self.socket)"
        let server = try self.lab.start("/bin/sh", ["-c", command])
        try self.message("listening on", in: server)
        var clients = try (0..<64).map { _ in try SocketClient(self.socket) }
        for client in clients.suffix(32) { #expect(try client.readToEnd() == "") }
        clients = []
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? self.status("")) != "HTTP/1.1 200" { try #require(ContinuousClock.now < deadline) }
        #expect(try server.stop() == 0)
    }

    @Test func theEndOfTheServiceIsSaid() throws {
        let place = try ServiceLab()
        let service = try place.start()
        let program = try MonitorProcess.builtProduct("netpath-serve")
        let server = try place.lab.start(program, ["serve", "--listen", self.socket], environment: place.environment)
        try self.message("attached to the service, listening on", in: server)
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? self.status("")) != "HTTP/1.1 200" { try #require(ContinuousClock.now < deadline) }
        #expect(try service.stop() == 0)
        try self.message("the service has ended: its last state is shown", in: server)
        let again = try place.start()
        try self.message("the service answers again", in: server)
        #expect(try server.stop() == 0)
        #expect(try again.stop() == 0)
    }

    /// What the service says at its end comes while the server ends, too.
    @Test func nothingIsSaidWhereItEndsWithTheService() throws {
        let place = try ServiceLab()
        let program = try MonitorProcess.builtProduct("netpath-serve")
        for _ in 0..<5 {
            let service = try place.start()
            let words = ["serve", "--listen", "\(place.lab.directory)/http.sock"]
            let server = try place.lab.start(program, words, environment: place.environment)
            try self.message("attached to the service, listening on", in: server)
            server.sendSignal(.terminate)
            service.sendSignal(.terminate)
            #expect(try server.waitForEnd() == 0)
            _ = try service.waitForEnd()
            #expect(!server.standardError.contains("ERROR"), "\(server.standardError)")
        }
    }

    @Test func aTokenForEverybodyIsRefused() throws {
        try self.write("0123456789abcdef", mode: "644")
        let program = try MonitorProcess.builtProduct("netpath-serve")
        let words = "serve --standalone --listen \(self.socket) --token-file \(self.file)"
        let output = try self.lab.run("\(program) \(words) 2>&1; echo -n \"status $?\"")
        #expect(output.contains("by every user of this machine") && output.hasSuffix("status 78"), "\(output)")
    }
}
