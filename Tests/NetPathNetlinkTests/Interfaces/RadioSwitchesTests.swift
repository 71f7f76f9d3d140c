// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathNetlink

/// A named pipe stands for `/dev/rfkill`, which few build machines have.
@Suite struct RadioSwitchesTests {
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func pipe() throws -> FileDescriptor {
        try #require(unsafe mkfifo(self.directory["rfkill"], 0o600) == 0)
        // For reading too, so that opening it waits for nobody.
        return try #require(unsafe FileDescriptor(open(self.directory["rfkill"], O_RDWR | O_CLOEXEC)))
    }

    private func isReadable(_ switches: RadioSwitches) -> Bool {
        SystemCalls.poll([switches.fileDescriptor ?? -1], timeout: .zero)[0]
    }

    @Test func everyEventIsTakenAtOnce() throws {
        let kernel = try self.pipe()
        // The state of each switch, which a reader gets to begin with.
        kernel.signal()
        let switches = RadioSwitches(path: self.directory["rfkill"])
        #expect(!self.isReadable(switches), "what is known already wakes nobody")
        #expect(!switches.drain())
        kernel.signal()
        kernel.signal()
        #expect(self.isReadable(switches))
        #expect(switches.drain())
        #expect(!switches.drain())
        #expect(switches.fileDescriptor != nil)
    }

    @Test func whereItCannotBeReadNothingIsTold() throws {
        let switches = RadioSwitches(path: self.directory["nothing"])
        #expect(switches.fileDescriptor == nil)
        #expect(!switches.drain())
    }

    @Test func deviceThatEndsIsGivenUp() throws {
        try self.directory.write("rfkill", "")
        #expect(RadioSwitches(path: self.directory["rfkill"]).fileDescriptor == nil)
    }
}
