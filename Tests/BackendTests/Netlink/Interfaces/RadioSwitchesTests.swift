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

    /// Writes what an event is as long as.
    private func turnSwitch(_ kernel: FileDescriptor) {
        var event: UInt64 = 1
        _ = unsafe write(kernel.number, &event, 8)
    }

    private func isReadable(_ switches: RadioSwitches) -> Bool {
        FileDescriptor.poll(readable: [switches.fileDescriptor ?? -1], timeout: .zero)[0]
    }

    @Test func everyEventIsTakenAtOnce() throws {
        let kernel = try self.pipe()
        // The state of each switch, which a reader gets to begin with.
        self.turnSwitch(kernel)
        let switches = RadioSwitches(path: self.directory["rfkill"])
        #expect(!self.isReadable(switches), "what is known already wakes nobody")
        #expect(!switches.drain())
        self.turnSwitch(kernel)
        self.turnSwitch(kernel)
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
