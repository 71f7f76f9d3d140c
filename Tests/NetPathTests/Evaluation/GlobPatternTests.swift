// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@Suite struct GlobPatternTests {
    @Test(arguments: [
        ("eth0", "eth0", true), ("eth0", "eth01", false), ("eth0", "Eth0", false), ("*", "", true), ("*", "x", true),
        ("wwan*", "wwan0", true), ("wwan*", "wwan", true), ("wwan*", "wlan0", false), ("*0", "eth0", true),
        ("*0", "eth00", true), ("*a*b", "xaybab", true), ("*a*b", "xaybabc", false), ("a**b", "ab", true),
        ("eth?", "eth0", true), ("eth?", "eth", false), ("eth?", "eth10", false), ("?", "\u{E9}", true),
        ("w[lw]an*", "wlan3", true), ("w[lw]an*", "wran3", false), ("eth[0-3]", "eth2", true),
        ("eth[0-3]", "eth4", false), ("eth[!0-3]", "eth4", true), ("eth[^0-3]", "eth2", false),
        ("[*]", "*", true), ("[*]", "x", false), ("[]a]", "]", true), ("[a-]", "-", true), ("[!]a]", "]", false),
        ("a.b", "axb", false),
    ])
    func matches(pattern: String, name: String, expected: Bool) throws {
        #expect(try #require(GlobPattern(pattern)).matches(name) == expected)
    }

    @Test(arguments: ["", "[", "eth[0-9", "[]", "[z-a]", "[!"])
    func refusesWhatIsNoPattern(text: String) {
        #expect(GlobPattern(text) == nil)
    }

    @Test(.timeLimit(.minutes(5))) func manyAsterisksCostNoTime() throws {
        let pattern = try #require(GlobPattern(String(repeating: "*a", count: 500) + "b"))
        #expect(!pattern.matches(String(repeating: "a", count: 5_000)))
    }
}
