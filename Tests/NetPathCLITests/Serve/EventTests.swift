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
        let answer1 = client.change()
        #expect(!answer1)
        let answer2 = client.change()
        #expect(!answer2)
        let answer3 = client.written()
        #expect(answer3)
        let answer4 = client.written()
        #expect(!answer4)
        let answer5 = client.change()
        #expect(answer5)
        let answer6 = client.written()
        #expect(!answer6)
    }

    @Test func aQuietClientIsSentHeartbeats() {
        var client = EventClient()
        _ = client.written()
        let answer7 = client.beat()
        #expect(answer7 == .pass)
        let answer8 = client.beat()
        #expect(answer8 == .write)
        let answer9 = client.written()
        #expect(!answer9)
        let answer10 = client.beat()
        #expect(answer10 == .write)
    }

    @Test func whoNeverReadsIsLetGo() {
        var client = EventClient()
        let answer11 = client.beat()
        #expect(answer11 == .pass)
        _ = client.change()
        let answer12 = client.beat()
        #expect(answer12 == .close)
    }
}
