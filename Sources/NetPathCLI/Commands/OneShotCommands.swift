// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

/// `netpath status`.
struct StatusCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the current path and exit with its status.",
        discussion: """
            Starts the configured backends, waits until each has reported once, and shows the result. The exit \
            status is 0 for satisfied, 1 for unsatisfied, 2 for requiresConnection; 69 when no backend has a verdict. \
            A backend that stays silent does not change the exit status. Probes and plugins are left out unless --probe asks them, \
            there is nothing else to ask, or they decide (merge.probes: required, merge.portals: requiresConnection). \
            Where 'netpath run' runs with the same configuration, it gives their results; otherwise they are shown as not asked.
            """
    )

    @Flag(name: .shortAndLong, help: "Print nothing; the exit status is the answer.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Print one value of the JSON output, such as status, reason.code or interfaces.0.name.",
            discussion: """
                Text is printed as it is, everything else as JSON; with --json text too. What is not known, or beyond \
                the end of a list, is null.
                """,
            valueName: "name"
        ),
        completion: .list(FieldPath.topLevelNames),
        transform: FieldPath.init(parsing:)
    )
    var field: FieldPath?

    @Flag(help: "Ask the running service, 'netpath run', instead of the backends.")
    var service = false

    @OptionGroup
    var probe: ProbeOptions

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func validate() throws {
        if self.service, self.probe.probe {
            throw ValidationError(
                "--service asks for what is known already, and --probe for more: leave out one of them"
            )
        }
        if self.quiet, self.field != nil {
            throw ValidationError("--quiet prints nothing and --field prints one value: leave out one of them")
        }
    }

    func execute() throws -> ToolStatus {
        let snapshot = try self.service ? self.askService() : self.askBackends()
        if !self.quiet { try self.show(snapshot) }
        return ToolStatus(snapshot.path)
    }

    private func askService() throws -> StatusSnapshot {
        let answer = try ServiceSnapshot.ask(quiet: self.quiet)
        if !self.quiet, let remark = answer.configuration.remark { ToolContext.current.say(remark) }
        return answer.status
    }

    private func askBackends() throws -> StatusSnapshot {
        let inquiry = try OneShotCommand.ask(
            self.options.runnableConfiguration(self.probe.applied),
            limit: self.timeout.timeout.duration
        )
        if !self.quiet { inquiry.noteSilence() }
        return inquiry.snapshot
    }

    private func show(_ snapshot: StatusSnapshot) throws {
        if let field = self.field {
            let value = field.value(in: snapshot.document)
            try self.options.write(value) { _ in value.plainText + "\n" }
        } else {
            try self.options.write(snapshot.document, or: snapshot.statusScreen)
        }
    }
}

/// `netpath explain`.
struct ExplainCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain the status: the evidence, the rule that decided, and what would help.",
        discussion: "The exit status is the one 'status' would have, and the same backends are asked."
    )

    @OptionGroup
    var probe: ProbeOptions

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let inquiry = try OneShotCommand.ask(
            self.options.runnableConfiguration(self.probe.applied),
            limit: self.timeout.timeout.duration
        )
        inquiry.noteSilence()
        let explained = inquiry.explained
        try self.options.write(explained.document, or: explained.screen)
        return ToolStatus(inquiry.snapshot.path)
    }
}

/// `netpath backends`.
struct BackendsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "backends",
        abstract: "List the types of backends, and how the configured ones are doing.",
        discussion: """
            Starts all that are configured, probes and plugins too, which may send packets. The exit status is 0 whatever \
            they report; that of 'status' tells the path.
            """
    )

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        let configuration = try self.options.runnableConfiguration()
        let inquiry = try OneShotCommand.ask(configuration, limit: self.timeout.timeout.duration, asWatching: true)
        inquiry.noteSilence()
        let inventory = inquiry.inventory(of: configuration, registry: ToolContext.current.registry)
        try self.options.write(inventory.document, or: inventory.screen)
        return .satisfied
    }
}
