// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// An HTTPS server on 127.0.0.1 with a certificate for that address, of an authority made for the test.
final class TLSServer: Sendable {
    let port: Int
    /// The file of the authority's certificate.
    let authority: String
    private let directory: TemporaryDirectory
    private let process: Process

    /// Whether tests with it shall run: there is `openssl`, or this is a CI machine.
    static var isAvailableOrRequired: Bool {
        ProcessInfo.processInfo.environment["NETPATH_CI"] != nil
            || FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")
    }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - days: How long the certificate is valid; negative for one that has expired.
    ///   - name: Whose certificate it is.
    ///   - answers: Files of whole responses by their names, in place of a page about the connection.
    /// - Throws: When `openssl` fails.
    init(days: Int = 2, for name: String = "IP:127.0.0.1", answers: [String: String] = [:]) throws {
        let directory = try TemporaryDirectory()
        try directory.write("extensions", "subjectAltName=\(name)\nbasicConstraints=CA:FALSE\n")
        let commands = [
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout authority.key -out authority.pem",
            "req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days \(days) "
                + "-extfile extensions -out server.pem",
        ]
        for command in commands {
            let process = Self.openssl(command, in: directory)
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw LabError.invalidRequest("openssl \(command) fails") }
        }
        for (name, answer) in answers { try directory.write(name, answer) }
        let mode = answers.isEmpty ? "-www" : "-HTTP"
        let process = Self.openssl(
            "s_server -accept 127.0.0.1:0 \(mode) -cert server.pem -key server.key",
            in: directory
        )
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // It says: ACCEPT 127.0.0.1:43211
        var text = ""
        while !text.contains(/ACCEPT .*:\d+\n/) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw LabError.invalidRequest("openssl does not listen: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let match = text.firstMatch(of: /ACCEPT .*:(\d+)/), let port = Int(match.1) else {
            throw LabError.invalidRequest("openssl does not say where it listens: \(text)")
        }
        self.port = port
        self.authority = directory["authority.pem"]
        self.directory = directory
        self.process = process
    }

    deinit {
        kill(self.process.processIdentifier, SIGKILL)
    }

    private static func openssl(_ command: String, in directory: TemporaryDirectory) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = command.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(filePath: directory.path)
        process.standardError = FileHandle.nullDevice
        return process
    }
}
