// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

/// `netpath hooks`.
struct HooksCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks",
        abstract: "Show the hooks of the running service, and how their latest runs went.",
        discussion: """
            The commands are shown to root, to the user that the service runs as, and to the members of its group. The exit \
            status is 0, and 69 when no service runs.
            """
    )

    static let uselessOptions = ["--config", "--set"]

    @OptionGroup(title: "Output options")
    var output: OutputOptions

    func execute() throws -> ToolStatus {
        let reports = try ServiceSnapshot.ask().hooks
        try self.output.write(HookReport.document(reports)) { HookReport.screen(reports, $0) { $0.local } }
        return .satisfied
    }
}
