// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

/// `netpath run`.
struct RunCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Watch as a service: run hooks, record what happens, and answer other programs.",
        discussion: """
            Runs until SIGTERM or SIGINT. Messages go to standard error, with priorities where that is the journal; the \
            service manager is told when it is ready, and what the path is (sd_notify). It answers on the socket \
            netpath.sock in /run/netpath, or in $XDG_RUNTIME_DIR/netpath where a user runs it; only one runs there at a \
            time. 'status --service', 'history' and 'hooks' ask it.

            The configuration is read again when its file changes, and on SIGHUP. While it has errors, the last valid \
            configuration stays in force. A service that is started with errors uses the last valid configuration, or \
            the default if there is none.
            """
    )

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func execute() throws -> ToolStatus {
        Shortage.keepHeapSmall()
        var context = ToolContext.current
        context.isJournal = ServiceManager.isJournal(context.environment)
        return try ToolContext.$current.withValue(context) {
            guard let folders = ServiceFolders.own(context.environment, isRoot: ServiceManager.isRoot) else {
                throw ToolFailure(
                    .failure,
                    """
                    the environment names no folder for the socket and the recording: set XDG_RUNTIME_DIR and HOME, or \
                    run it as root or as a service of systemd
                    """
                )
            }
            let (configuration, refusal) = try self.options.standingConfiguration(in: folders, orDefault: true)
            try context.becomeProgram(running: configuration)
            try Service(configuration, refusal: refusal, options: self.options, folders: folders).run()
            return .satisfied
        }
    }
}
