// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct LiveViewTests {
    private func state(
        _ snapshots: [StatusSnapshot],
        columns: Int,
        rows: Int,
        isUnicode: Bool = true
    )
        -> LivePicture
    {
        var state = LivePicture(
            name: "netpath",
            characters: LiveCharacters(isUnicode: isUnicode),
            hint: "q quits"
        )
        for snapshot in snapshots { state.record(snapshot) }
        state.size = TerminalSize(columns: columns, rows: rows)
        return state
    }

    private func lines(_ state: LivePicture, isColored: Bool = false) -> [String] {
        state.lines(TextStyle(isColored: isColored, width: nil)) { CivilTime($0, offsetSeconds: 7_200) }
    }

    private func picture(_ state: LivePicture) -> String {
        self.lines(state).joined(separator: "\n")
    }

    private var lost: StatusSnapshot {
        Fixtures.snapshot(Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute), sequence: 2)
    }

    private func crowd(_ count: UInt32, name: String = "veth") -> StatusSnapshot {
        let interfaces = (1...count).map { Fixtures.interface("\(name)\($0)", index: $0) }
        return Fixtures.snapshot(Fixtures.evidence(interfaces, ipv4: Fixtures.route(through: 1)))
    }

    @Test func usualTerminal() {
        let state = self.state([self.lost, Fixtures.snapshot(Fixtures.routed)], columns: 80, rows: 24)
        let footer = "netpath watch   last change 2026-10-21 14:31:46" + String(repeating: " ", count: 26) + "q quits"
        #expect(
            self.picture(state) == """
                ╔═╗╔═╗╔╦╗╦╔═╗╔═╗╦╔═╗╔╦╗
                ╚═╗╠═╣ ║ ║╚═╗╠╣ ║║╣  ║║
                ╚═╝╩ ╩ ╩ ╩╚═╝╚  ╩╚═╝═╩╝                                           since 14:31:46
                IPv4 through eth0
                IPv4 yes   IPv6 no   DNS 192.0.2.53   internet not probed

                Interfaces
                ▸ eth0 wired  192.0.2.7/24
                       eth0 carries the path, gateway 192.0.2.1, metric 100

                Backends
                  netlink healthy: satisfied

                Changes
                  14:31:46.123  satisfied    IPv4 through eth0; eth0 carries the path; + IPv4
                  14:31:46.123  unsatisfied  eth0 has an address but no route to the internet







                \(footer)
                """
        )
    }

    @Test func smallTerminal() {
        let state = self.state([self.lost, Fixtures.snapshot(Fixtures.routed)], columns: 40, rows: 10)
        #expect(
            self.picture(state) == """
                SATISFIED                 since 14:31:46
                IPv4 through eth0
                Interfaces
                ▸ eth0 wired  192.0.2.7/24
                Backends
                  netlink healthy: satisfied
                Changes
                  14:31:46  satisfied  IPv4 through eth…
                  14:31:46  unsatisfied  eth0 has an ad…

                """
        )
    }

    @Test func tinyTerminal() {
        #expect(
            self.picture(self.state([self.lost], columns: 10, rows: 3, isUnicode: false)) == """
                UNSATISFI~
                eth0 has ~
                  eth0 19~
                """
        )
    }

    @Test func asciiBannerWhereTheLocaleIsNotUTF8() {
        let state = self.state([self.lost], columns: 80, rows: 24, isUnicode: false)
        #expect(self.lines(state)[1] == "  U N S A T I S F I E D")
        #expect(self.picture(state).unicodeScalars.allSatisfy { $0.isASCII })
    }

    @Test(
        arguments: [(80, 24), (120, 40), (40, 10), (36, 16), (20, 5), (10, 3), (3, 2), (1, 1), (0, 0)],
        [true, false]
    )
    func everySizeIsKept(_ size: (columns: Int, rows: Int), _ isUnicode: Bool) throws {
        var waiting = try #require(self.lost.path)
        waiting.status = .requiresConnection
        waiting.isStale = true
        let stale = StatusSnapshot(path: waiting, backends: waiting.backends, takenAt: Fixtures.clock)
        let long = self.crowd(3, name: String(repeating: "long-name-", count: 30))
        for last in [Fixtures.unknown, self.lost, stale, long, self.crowd(100)] {
            let state = self.state([self.lost, last], columns: size.columns, rows: size.rows, isUnicode: isUnicode)
            let lines = self.lines(state)
            #expect(lines.count == max(1, size.rows))
            #expect(lines.allSatisfy { $0.count <= max(1, size.columns) }, "\(lines)")
            let colored = self.lines(state, isColored: true).map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
            #expect(colored == lines, "colour is never the only signal")
        }
    }

    @Test func manyInterfacesAreCounted() {
        let text = self.picture(self.state([self.crowd(100)], columns: 80, rows: 24))
        #expect(text.contains("▸ veth1 "))
        #expect(text.contains("  and 91 more\n"))
        #expect(text.contains("  netlink healthy"), "a crowd leaves room for the rest")
        #expect(text.contains("satisfied"))
    }

    @Test func sharesAreFairAndLeaveNothing() {
        #expect(LiveSection.shares(of: 10, wanted: [100, 2, 4]) == [4, 2, 4])
        #expect(LiveSection.shares(of: 10, wanted: [100, 2, 100]) == [4, 2, 4])
        #expect(LiveSection.shares(of: 11, wanted: [100, 2, 100]) == [5, 2, 4])
        #expect(LiveSection.shares(of: 10, wanted: [1, 2, 3]) == [1, 2, 3])
        #expect(LiveSection.shares(of: 0, wanted: [1]) == [0])
    }

    @Test func nobodyKnows() {
        let text = self.picture(self.state([Fixtures.unknown], columns: 80, rows: 24))
        #expect(text.contains("no backend has a verdict"))
        #expect(text.contains("  netlink unhealthy: no netlink socket: Operation not permitted\n"))
        #expect(!text.contains("Interfaces"))
    }

    /// Whoever may create an interface must not be able to draw on the terminal, nor to shift a line.
    @Test func hostileNames() {
        var evidence = Fixtures.evidence([Fixtures.interface("e\u{1B}[2J\u{4E2D}")], ipv4: Fixtures.route())
        evidence.limitations = ["no \u{9B}2J"]
        var state = self.state([Fixtures.snapshot(evidence)], columns: 300, rows: 24)
        state.history.record(.warning, "bad \u{7}\r\n thing", at: WallTime(nanoseconds: 0))
        let text = self.picture(state)
        #expect(text.contains("e\\u{1B}[2J\\u{4E2D}"))
        #expect(text.contains("warning    bad \\u{7}\\u{D}\\u{A} thing"))
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
    }

    @Test func historyKeepsWhatChanged() throws {
        var history = ChangeHistory()
        let routed = Fixtures.snapshot(Fixtures.routed)
        history.record(Fixtures.unknown)
        history.record(routed)
        history.record(routed)
        #expect(history.entries.map(\.word) == ["satisfied", "unknown"])
        var later = routed
        later.path?.publishedAt = Fixtures.now + .seconds(60)
        later.path?.supportsIPv6 = true
        history.record(later)
        #expect(history.entries.first?.text == "+ IPv6")
        #expect(history.statusSince == routed.time, "the status did not change")
        for _ in 1...1_000 { history.record(.warning, "again", at: later.time) }
        #expect(history.entries.count == 200)
    }

    @Test(
        arguments: [
            (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), ([:], false), (["LANG": "C"], false),
            (["LANG": "C.UTF-8", "LC_ALL": "POSIX"], false), (["LANG": "C", "LC_CTYPE": "en_US.UTF-8"], true),
            (["LANG": "C.UTF-8", "LC_ALL": ""], true),
        ]
    )
    func characterSet(_ environment: [String: String], _ isUnicode: Bool) {
        #expect(LiveCharacters(environment: environment).isUnicode == isUnicode)
    }

    @Test func bannersAreStraight() throws {
        for word in ["SATISFIED", "UNSATISFIED", "REQUIRES CONNECTION", "UNKNOWN"] {
            for isUnicode in [true, false] {
                let banner = try #require(LiveCharacters(isUnicode: isUnicode).banner(word))
                #expect(banner.count == 3)
                #expect(banner.allSatisfy { $0.count <= 60 })
                if isUnicode { #expect(Set(banner.map(\.count)).count == 1, "\(word)") }
            }
        }
    }

    @Test func framesNeverScroll() {
        let first = LiveView.frame(["a", "b"], isFirst: true)
        #expect(first == TerminalScreen.entering + "\u{1B}[H\u{1B}[Ka\r\n\u{1B}[Kb")
        #expect(LiveView.frame(["a"], isFirst: false) == "\u{1B}[H\u{1B}[Ka")
    }
}
