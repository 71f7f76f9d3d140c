// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@Suite struct SectionSpellingTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abd", 1), ("abcd", "abdc", 1),
        ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func countsEdits(first: String, second: String, distance: Int) {
        #expect(editDistance(Array(first), Array(second)) == distance)
        #expect(editDistance(Array(second), Array(first)) == distance)
    }

    @Test(arguments: [
        ("intervall", "interval"), ("intreval", "interval"), ("INTERVAL", "interval"), ("max_wait", "maxWait"),
        ("max-wait", "maxWait"), ("tpye", "type"), ("zzz", nil), ("t", nil), ("", nil), ("gateway", nil),
    ])
    func findsWhatWasMeant(word: String, expected: String?) {
        #expect(nearestMatch(to: word, among: ["type", "interval", "maxWait"]) == expected)
    }

    @Test(
        arguments: [
            (.zero, "0s"), (.milliseconds(500), "500ms"), (.milliseconds(1_500), "1500ms"), (.seconds(90), "90s"),
            (.seconds(300), "5m"), (.seconds(7_200), "2h"),
        ] as [(Duration, String)]
    )
    func writesDurationsAsTheyAreRead(duration: Duration, text: String) {
        #expect(DurationText.format(duration) == text)
        #expect(DurationText.parse(text) == duration)
    }
}
