// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@Suite struct PPPoESessionsTests {
    /// As Linux 6.1 shows them.
    private static let one = "Id       Address              Device\n00000100 52:54:00:12:34:56       e0\n"
    private static let two = one + "00000200 52:54:00:12:34:57       e0\n"
    private static let apart = one + "00000200 52:54:00:12:34:57     eth1\n"

    @Test func deviceOfTheOnlySession() {
        let sessions = PPPoESessions(parsing: Self.one)
        #expect(sessions.devices == ["e0"])
        #expect(sessions.device(underEachOf: 1) == "e0")
        #expect(sessions.device(underEachOf: 2) == nil, "one of the interfaces is something else")
        #expect(sessions.device(underEachOf: 0) == nil)
    }

    @Test func sessionsOverOneDeviceAreAllOverIt() {
        #expect(PPPoESessions(parsing: Self.two).device(underEachOf: 2) == "e0")
        #expect(PPPoESessions(parsing: Self.two).device(underEachOf: 1) == nil)
        #expect(PPPoESessions(parsing: Self.apart).device(underEachOf: 2) == nil, "which is whose, nobody says")
    }

    @Test func whatIsNoListHasNoSessions() {
        for text in ["", "\n", "Id       Address              Device\n", "x\ny\n", "a b c"] {
            #expect(PPPoESessions(parsing: text).devices.isEmpty)
        }
    }
}
