// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathConfiguration
import Testing

@Suite struct FileSearchTests {
    static let user = "/x/netpath/netpath.yaml"
    static let home = "/h/.config/netpath/netpath.yaml"
    static let system = "/etc/netpath/netpath.yaml"

    struct Case: Sendable {
        var option: String?
        var environment: [String: String] = [:]
        var existing: Set<String> = []
        let expected: ConfigurationLocation
    }

    static let both = ["XDG_CONFIG_HOME": "/x", "HOME": "/h"]

    @Test(arguments: [
        Case(expected: .embedded),
        Case(environment: both, expected: .embedded),
        Case(existing: [system], expected: .file(path: system, origin: .system)),
        Case(environment: both, existing: [user, home, system], expected: .file(path: user, origin: .user)),
        // XDG_CONFIG_HOME replaces ~/.config, it does not precede it.
        Case(environment: both, existing: [home, system], expected: .file(path: system, origin: .system)),
        Case(environment: ["HOME": "/h"], existing: [home, system], expected: .file(path: home, origin: .user)),
        Case(
            environment: ["XDG_CONFIG_HOME": "relative", "HOME": "/h"],
            existing: ["relative/netpath/netpath.yaml", home],
            expected: .file(path: home, origin: .user)
        ),
        Case(
            environment: ["XDG_CONFIG_HOME": "", "HOME": "/h"],
            existing: ["/netpath/netpath.yaml", home],
            expected: .file(path: home, origin: .user)
        ),
        Case(environment: ["HOME": ""], existing: ["/.config/netpath/netpath.yaml"], expected: .embedded),
        // Named files are taken whether they exist or not: reading them says so.
        Case(
            environment: both.merging(["NETPATH_CONFIG": "e.yaml"]) { $1 },
            existing: [user, system],
            expected: .file(path: "e.yaml", origin: .environment)
        ),
        Case(environment: ["NETPATH_CONFIG": ""], expected: .embedded),
        Case(
            option: "o.yaml",
            environment: ["NETPATH_CONFIG": "e.yaml"],
            existing: [system, "e.yaml"],
            expected: .file(path: "o.yaml", origin: .commandLine)
        ),
        Case(option: "", existing: [system], expected: .file(path: "", origin: .commandLine)),
    ])
    func finds(_ example: Case) {
        let search = ConfigurationSearch(explicitPath: example.option, environment: example.environment)
        #expect(search.location { example.existing.contains($0) } == example.expected)
    }

    /// What a service may write to, as its home, says nothing of what it does.
    @Test func aServiceReadsTheFolderOfTheMachineOnly() {
        let search = ConfigurationSearch(explicitPath: nil, environment: Self.both, isService: true)
        #expect(search.candidates == [.file(path: Self.system, origin: .system)])
        #expect(search.location { _ in true } == .file(path: Self.system, origin: .system))
        let named = ConfigurationSearch(explicitPath: "o.yaml", environment: Self.both, isService: true)
        #expect(named.location { _ in true } == .file(path: "o.yaml", origin: .commandLine))
    }

    @Test func looksNoFurtherThanNeeded() {
        var asked: [String] = []
        let search = ConfigurationSearch(explicitPath: nil, environment: Self.both)
        _ = search.location {
            asked.append($0)
            return true
        }
        #expect(asked == [Self.user])
        #expect(
            search.candidates == [.file(path: Self.user, origin: .user), .file(path: Self.system, origin: .system)]
        )
        #expect(search.named == nil)
    }
}
