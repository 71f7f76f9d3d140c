// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import Testing

/// Files that say nothing.
@Suite struct EmptyFileTests {
    @Test(arguments: ["", "\n\n", "# grace: 1s\n", "{}", "---\n", "---\n{}\n..."])
    func theyAreTheDefault(_ text: String) throws {
        let configuration = try LoadedConfiguration.parse(ConfigurationSource(name: "t", text: text))
        #expect(configuration.saysNothing)
        let name = "embedded default"
        let standard = try LoadedConfiguration.parse(
            ConfigurationSource(name: name, text: LoadedConfiguration.defaultText)
        )
        #expect(!standard.saysNothing)
        #expect(configuration.backends.map(\.name) == standard.backends.map(\.name))
        #expect(configuration.logLevel == standard.logLevel)
    }

    @Test func oneWithAKeySaysSomething() throws {
        #expect(try !LoadedConfiguration.parse(ConfigurationSource(name: "t", text: "grace: 1s")).saysNothing)
    }
}
