// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// Bodies from files, and responses into files.
@Suite struct FileTests {
    private let transport = CurlTransport(proxy: "")
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: self.directory.path).sorted() }
    }

    @Test(arguments: ["POST", "PUT", "PATCH"], [0, 3, 500_000, 3_000_000])
    func aFileArrivesAsItIs(method: String, size: Int) async throws {
        let lab = try LabHost()
        let text = String((0..<size).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
        try self.directory.write("body", text)
        let body = TransportRequest.Body.file(self.directory["body"])
        let path = size < 1_000_000 ? "/echo" : "/ok"
        let request = TransportRequest(method: method, url: lab.url(path), body: body, timeouts: .test)
        let response = try await self.transport.send(request)
        #expect(response.status == 200)
        if path == "/echo" { #expect(response.body == Array(text.utf8)) }
        let event = try #require(try await lab.events(on: path).first)
        #expect(event["method"]?.string == method)
        #expect(event["length"]?.number == Double(size))
    }

    @Test(arguments: ["missing", "directory", "pipe"])
    func whatCannotBeReadIsNotSent(name: String) async throws {
        let lab = try LabHost()
        try self.directory.makeDirectory("directory")
        let isMade = unsafe mkfifo(self.directory["pipe"], 0o600) == 0
        #expect(isMade)
        let body = TransportRequest.Body.file(self.directory[name])
        let request = TransportRequest(method: "POST", url: lab.url("/ok"), body: body, timeouts: .test)
        let error = await self.transport.failure(request)
        #expect(error?.reason == .file)
        #expect(error?.progress == .notSent)
        #expect(error?.message.contains(self.directory[name]) == true)
    }

    @Test func aFileThatShrinksIsAnErrorAndNoShorterBody() async throws {
        let lab = try LabHost()
        try self.directory.write("body", String(repeating: "x", count: 30_000_000))
        let transport = self.transport
        let request = TransportRequest(
            method: "PUT",
            url: lab.url("/read-on-release?after=100000&id=1"),
            body: .file(self.directory["body"]),
            timeouts: .test
        )
        let task = Task { await transport.failure(request) }
        _ = try await lab.waitForEvents(on: "/read-on-release")
        // In place, with the server standing still: what it has not taken is gone now.
        try FileHandle(forWritingTo: URL(filePath: self.directory["body"])).truncate(atOffset: 20_000_000)
        _ = try await CurlTransport.shared.send(TransportRequest(url: lab.url("/release?id=1"), timeouts: .test))
        let error = await task.value
        #expect(error?.reason == .file, "\(error?.message ?? "no error")")
        #expect(error?.progress == .mayHaveBeenReceived)
    }

    @Test func aResponseReplacesTheFileOfTheLastTime() async throws {
        let lab = try LabHost()
        try self.directory.write("answer", "old")
        let request = TransportRequest(
            url: lab.url("/bytes?n=300000"),
            timeouts: .test,
            responseLimit: 10,
            responseFile: self.directory["answer"]
        )
        let response = try await self.transport.send(request)
        #expect(response.body.isEmpty)
        let data = try Data(contentsOf: URL(filePath: self.directory["answer"]))
        #expect(data.count == 300_000)
        #expect(data.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: ($0 % 65_536) &* 31) })
        #expect(try self.names == ["answer"])
    }

    @Test(arguments: ["/close-mid-body", "/reset", "/status/404"])
    func aFailureLeavesTheFileOfTheLastTime(path: String) async throws {
        let lab = try LabHost()
        try self.directory.write("answer", "old")
        let file = self.directory["answer"]
        let request = TransportRequest(url: lab.url(path), timeouts: .test, responseFile: file)
        let response = try? await self.transport.send(request)
        #expect(response?.body == (path == "/status/404" ? Array("status 404\n".utf8) : nil))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
        #expect(try self.names == ["answer"], "nothing half-written stays")
    }

    @Test func whatCannotBeWrittenIsNotSent() async throws {
        let lab = try LabHost()
        let file = self.directory["missing/answer"]
        let request = TransportRequest(url: lab.url("/ok"), timeouts: .test, responseFile: file)
        let error = await self.transport.failure(request)
        #expect(error?.reason == .file)
        #expect(error?.progress == .notSent)
        #expect(try await lab.events(on: "/ok").isEmpty)
    }
}
