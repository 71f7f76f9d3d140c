// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit
import Testing

/// Random stacks of bridges, tunnels, macvlans and veths, decided by datagrams: a plain yes or no is never wrong.
@Suite(.needsNamespacesAndTunDevices)
struct StackWalkTests {
    @Test func verdictIsWhatDatagramsSay() async {
        print(await SetupRun.play(WalkEnvironment.datagramSeeds.map(StackWalk.setup)))
    }

    @Test func stackIsAFunctionOfItsSeed() {
        let texts = ([7, 7, 8] as [UInt64]).map { "\(StackWalk.setup(seed: $0))" }
        #expect(texts[0] == texts[1])
        #expect(texts[0] != texts[2])
    }
}
