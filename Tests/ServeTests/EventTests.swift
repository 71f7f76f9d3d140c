// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathServe
import Testing

/// States on their way to clients, without a socket.
struct EventTests {
    @Test func aStateIsAnEvent() {
        var state = ServedState(instance: 35, document: Array("{}".utf8))
        state.set(Array("{\"a\":1}\n".utf8))
        #expect(String(decoding: state.event, as: UTF8.self) == "id: z-1\nevent: status\ndata: {\"a\":1}\n\n")
        #expect(state.document == Array("{\"a\":1}".utf8))
    }

    @Test func whoComesBackGetsWhatIsNew() {
        var state = ServedState(instance: 1, document: Array("{}".utf8))
        let greeting = { (last: String?) in String(decoding: state.greeting(lastEvent: last), as: UTF8.self) }
        #expect(greeting(nil).hasPrefix("retry: 1000\nid: 1-0\nevent: status\n"))
        #expect(greeting("1-0") == "retry: 1000\nevent: heartbeat\ndata: {}\n\n")
        // Of another server, or of before.
        #expect(greeting("2-0").contains("event: status"))
        let seen = state.identifier
        state.set(Array("{\"a\":1}".utf8))
        #expect(String(decoding: state.greeting(lastEvent: seen), as: UTF8.self).contains("{\"a\":1}"))
    }

    /// A client that is slow gets the newest state next, and those in between never.
    @Test func onlyTheNewestStateWaits() {
        var client = EventClient()
        #expect(!client.change())
        #expect(!client.change())
        #expect(client.written())
        #expect(!client.written())
        #expect(client.change())
        #expect(!client.written())
    }

    @Test func aQuietClientIsSentHeartbeats() {
        var client = EventClient()
        _ = client.written()
        #expect(client.beat() == .pass)
        #expect(client.beat() == .write)
        #expect(!client.written())
        #expect(client.beat() == .write)
    }

    @Test func whoNeverReadsIsLetGo() {
        var client = EventClient()
        #expect(client.beat() == .pass)
        _ = client.change()
        #expect(client.beat() == .close)
    }
}
