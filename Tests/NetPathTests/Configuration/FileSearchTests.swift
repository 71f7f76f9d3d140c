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
        let found = ConfigurationLocation.find(explicitPath: example.option, environment: example.environment) {
            example.existing.contains($0)
        }
        #expect(found == example.expected)
    }

    /// What a service may write to, as its home, says nothing of what it does.
    @Test func aServiceReadsTheFolderOfTheMachineOnly() {
        func find(_ path: String?) -> ConfigurationLocation {
            .find(explicitPath: path, environment: Self.both, isService: true) { _ in true }
        }
        #expect(find(nil) == .file(path: Self.system, origin: .system))
        #expect(find("o.yaml") == .file(path: "o.yaml", origin: .commandLine))
    }

    @Test func looksNoFurtherThanNeeded() {
        var asked: [String] = []
        for isThere in [true, false] {
            _ = ConfigurationLocation.find(explicitPath: nil, environment: Self.both) {
                asked.append($0)
                return isThere
            }
        }
        #expect(asked == [Self.user, Self.user, Self.system])
    }
}
