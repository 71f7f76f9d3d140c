// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathNetlink

@Suite struct ResolverFileTests {
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private static func text(_ server: Int) -> String { "nameserver 192.0.2.\(server)\n" }

    private func watch(_ name: String = "resolv.conf") -> ResolverFile {
        ResolverFile(path: self.directory[name], runtime: self.directory["run"])
    }

    /// Waits for a change to be noticed, and expects one server to be read then.
    private func expectChange(
        _ file: ResolverFile,
        to server: Int?,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let descriptor = try #require(file.fileDescriptor, sourceLocation: location)
        let isReadable = FileDescriptor.poll(readable: [descriptor], timeout: .seconds(5)) == [true]
        #expect(isReadable, sourceLocation: location)
        #expect(file.drain(), sourceLocation: location)
        let expected = server.map { [DNSServer(.fixture("192.0.2.\($0)"))] }
        #expect(file.servers() == expected, sourceLocation: location)
        self.expectSilence(file, location: location)
    }

    /// Expects nothing to be noticed: the kernel queues events before the system call that caused them returns.
    private func expectSilence(_ file: ResolverFile, location: SourceLocation = #_sourceLocation) {
        #expect(!file.drain(), sourceLocation: location)
    }

    @Test func unchangedFileIsSilent() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        #expect(file.servers() == [DNSServer(.fixture("192.0.2.1"))])
        self.expectSilence(file)
    }

    @Test func writtenInPlace() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        for server in 2...4 {
            try self.directory.write("resolv.conf", Self.text(server))
            try self.expectChange(file, to: server)
        }
    }

    @Test func replacedByRename() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        for server in 2...4 {
            try self.directory.replace("resolv.conf", Self.text(server))
            try self.expectChange(file, to: server)
        }
        // The new file itself is watched too.
        try self.directory.write("resolv.conf", Self.text(5))
        try self.expectChange(file, to: 5)
    }

    @Test func removedAndCreated() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        try self.directory.remove("resolv.conf")
        try self.expectChange(file, to: nil)
        try self.directory.write("resolv.conf", Self.text(2))
        try self.expectChange(file, to: 2)
    }

    @Test func symbolicLinkPointedElsewhere() throws {
        try self.directory.write("stub/resolv.conf", Self.text(1))
        try self.directory.write("full/resolv.conf", Self.text(2))
        try self.directory.link("resolv.conf", to: "stub/resolv.conf")
        let file = self.watch()
        try self.directory.write("full/resolv.conf", Self.text(3))
        self.expectSilence(file)
        try self.directory.relink("resolv.conf", to: self.directory["full/resolv.conf"])
        try self.expectChange(file, to: 3)
        try self.directory.write("stub/resolv.conf", Self.text(4))
        self.expectSilence(file)
        try self.directory.replace("full/resolv.conf", Self.text(5))
        try self.expectChange(file, to: 5)
        try self.directory.relink("resolv.conf", to: "./full/../stub/resolv.conf")
        try self.expectChange(file, to: 4)
        try self.directory.write("stub/resolv.conf", Self.text(6))
        try self.expectChange(file, to: 6)
    }

    @Test func danglingLinkWhoseTargetAppears() throws {
        try self.directory.link("resolv.conf", to: "run/manager/resolv.conf")
        let file = self.watch()
        #expect(file.servers() == nil)
        try self.directory.makeDirectory("run")
        try self.expectChange(file, to: nil)
        try self.directory.makeDirectory("run/manager")
        try self.expectChange(file, to: nil)
        try self.directory.write("run/manager/resolv.conf", Self.text(1))
        try self.expectChange(file, to: 1)
    }

    @Test func chainThroughALinkedDirectory() throws {
        try self.directory.write("..first/resolv.conf", Self.text(1))
        try self.directory.write("..second/resolv.conf", Self.text(2))
        try self.directory.link("..data", to: "..first")
        try self.directory.link("resolv.conf", to: "..data/resolv.conf")
        let file = self.watch()
        #expect(file.servers() == [DNSServer(.fixture("192.0.2.1"))])
        try self.directory.relink("..data", to: "..second")
        try self.expectChange(file, to: 2)
        try self.directory.remove("..first")
        self.expectSilence(file)
        try self.directory.write("..second/resolv.conf", Self.text(3))
        try self.expectChange(file, to: 3)
    }

    @Test func directoryRemovedAndMadeAgain() throws {
        try self.directory.write("run/resolv.conf", Self.text(1))
        let file = self.watch("run/resolv.conf")
        try self.directory.remove("run")
        try self.expectChange(file, to: nil)
        try self.directory.write("run/resolv.conf", Self.text(2))
        // The directory and the file appear one after the other; either may be seen first.
        try self.expectChange(file, to: 2)
        try self.directory.write("run/resolv.conf", Self.text(3))
        try self.expectChange(file, to: 3)
    }

    @Test func directoryMovedAway() throws {
        try self.directory.write("run/resolv.conf", Self.text(1))
        let file = self.watch("run/resolv.conf")
        try self.directory.move("run", to: "old")
        try self.expectChange(file, to: nil)
        try self.directory.write("old/resolv.conf", Self.text(2))
        self.expectSilence(file)
        try self.directory.write("next/resolv.conf", Self.text(3))
        try self.directory.move("next", to: "run")
        try self.expectChange(file, to: 3)
    }

    @Test func fileThatNeverExistedAppears() throws {
        let file = self.watch("a/b/resolv.conf")
        #expect(file.servers() == nil)
        try self.directory.write("a/b/resolv.conf", Self.text(1))
        try self.expectChange(file, to: 1)
    }

    @Test func otherNamesDoNotCount() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        try self.directory.write("hosts", "")
        try self.directory.replace("hosts", "::1 localhost\n")
        try self.directory.write("resolv.conf.bak", Self.text(2))
        try self.directory.remove("hosts")
        let descriptor = try #require(file.fileDescriptor)
        #expect(FileDescriptor.poll(readable: [descriptor], timeout: .zero) == [true], "they do wake us")
        self.expectSilence(file)
        #expect(FileDescriptor.poll(readable: [descriptor], timeout: .zero) == [false], "and are taken away")
        try self.directory.write("resolv.conf", Self.text(3))
        try self.expectChange(file, to: 3)
    }

    @Test func manyEventsAreOneChange() throws {
        try self.directory.write("resolv.conf", Self.text(1))
        let file = self.watch()
        for number in 0..<400 {
            // Far more than one read takes, none of them equal to the one before.
            try self.directory.write("unrelated-file-number-\(number)", "")
            if number % 3 == 0 { try self.directory.replace("resolv.conf", Self.text(number % 250)) }
        }
        try self.expectChange(file, to: 399 % 250)
    }

    @Test func filesBehindAStubAreWatchedToo() throws {
        let upstream = "run/systemd/resolve/resolv.conf"
        try self.directory.write(upstream, Self.text(1))
        try self.directory.write("resolv.conf", Self.text(2))
        let file = self.watch()
        #expect(file.servers() == [DNSServer(.fixture("192.0.2.2"))])
        try self.directory.replace(upstream, Self.text(3))
        self.expectSilence(file)
        try self.directory.replace("resolv.conf", "nameserver 127.0.0.53\n")
        try self.expectChange(file, to: 3)
        try self.directory.replace(upstream, Self.text(4))
        try self.expectChange(file, to: 4)
        try self.directory.replace("resolv.conf", Self.text(5))
        try self.expectChange(file, to: 5)
        try self.directory.replace(upstream, Self.text(6))
        self.expectSilence(file)
    }

    @Test func aFileBehindAStubMayAppearLater() throws {
        try self.directory.write("resolv.conf", "nameserver 127.0.0.53\n")
        let file = self.watch()
        #expect(file.servers() == [DNSServer(.fixture("127.0.0.53"))])
        try self.directory.write("run/systemd/resolve/resolv.conf", Self.text(1))
        try self.expectChange(file, to: 1)
    }

    @Test func loopOfLinksEnds() throws {
        try self.directory.link("a", to: "b")
        try self.directory.link("b", to: "a")
        let file = self.watch("a")
        #expect(file.servers() == nil)
        try self.directory.remove("b")
        try self.directory.write("b", Self.text(1))
        try self.expectChange(file, to: 1)
    }
}
