// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What a fresh look learns of a service that has watched all the time.
@Suite(.needsNamespaces)
struct ServiceMemoryTests {
    /// What carried the path is blamed, as by a monitor that saw it, and not the device's own network.
    @Test func aFreshLookBlamesWhatCarriedThePath() throws {
        let place = try ServiceLab()
        let service = try place.start()
        try place.lab.addUplink("plc0", addresses: ["10.1.2.3/24"])
        // The cable goes, and what gave the address takes it back.
        try place.uplink.setPeerCarrier(false)
        try place.uplink.removeAddress("192.0.2.2/24")
        try place.answer("wan0 has no carrier\n", to: "status --service --field reason.message")
        try place.answer("wan0 has no carrier\n", to: "status --field reason.message")
        try place.answer("noCarrier\n", to: "--field reason.code")
        // A service that takes longer than half a second counts as none.
        try waitUntil { (try? place.ask("explain"))?.contains("wan0 has no carrier") == true }

        // In another network namespace the same number is another interface.
        let elsewhere = """
            unshare -n sh -c 'ip link add plc9 up type veth peer name far9 && ip link set far9 up && \
            ip address add 10.1.2.3/24 dev plc9 && ip link add lan9 up index \(try place.uplink.index()) type veth \
            peer name far8 && exec "$@"' sh
            """
        #expect(try place.ask("status --field reason.message", through: elsewhere).contains("plc9"))

        // One that is stopped holds up no answer for long, and none is like none.
        service.sendSignal(.suspend)
        let begin = ContinuousClock.now
        #expect(try place.ask("status --field reason.message").contains("plc0"))
        #expect(ContinuousClock.now - begin < .seconds(10))
        service.sendSignal(.resume)
        #expect(try service.stop() == 0)
        #expect(try place.ask("status --field reason.message").contains("plc0"))
    }
}
