// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPathCLI
import NetPathConfiguration
import NetPathServe
import NetPathSystem

/// `netpath-serve`: the command of `netpath` that it executes this program for.
struct ServeTool: ParsableCommand {
    /// What the program is made of.
    static let facts = BuildFacts(program: "netpath-serve")

    static let configuration = CommandConfiguration(
        commandName: "netpath-serve",
        abstract: "Show the path as a web page, a banner for other pages, and metrics.",
        discussion: """
            This is what 'netpath serve' executes.

            \(ToolStatus.help)
            """,
        version: Self.facts.text,
        subcommands: [ServeCommand.self]
    )
}

extension ServeCommand {
    /// Serves, or writes the metrics once.
    func perform() throws -> ToolStatus {
        if let textfile { return try self.write(to: textfile) }
        let settings = try self.settings()
        let access = try Access(settings)
        var limits = ServeLimits()
        // What watches the network needs some, too, of few the most.
        let files = OpenFiles.raiseLimit()
        limits.connections = min(limits.connections, max(files / 4, files - 256))
        // A history is made on a thread apart, which would get a heap of its own.
        Shortage.keepHeapSmall()
        let session = try ServeSession(self)
        let context = ToolContext.current
        let server = StatusServer(
            access,
            limits: limits,
            document: session.document,
            log: { context.say($0.safe) },
            worker: { work in
                switch work {
                case .metrics(let isOpenMetrics): session.metrics(isOpenMetrics)
                case .details: session.details()
                case .history(let hours, let withMessages): session.history(hours: hours, withMessages: withMessages)
                }
            }
        )
        defer { server.stop() }
        let source = session.isAttached ? "attached to the service" : "watching by itself"
        for address in settings.addresses {
            do {
                let bound = try server.listen(on: address)
                ToolContext.current.say("\(source), listening on \(bound.link)")
            } catch let error as SystemError where error.isAddressInUse {
                throw ToolFailure(
                    .failure,
                    "\(error.description), perhaps by another 'netpath serve'; name another address with --listen, or as "
                        + "'serve.listen' in the configuration"
                )
            }
        }
        try session.run(onReload: { self.reload(server, settings, session) }, { server.publish($0) })
        return .satisfied
    }

    /// Reads again who may ask; what holds an error leaves everything as it is.
    private func reload(_ server: StatusServer, _ old: ServeSettings, _ session: ServeSession) {
        let context = ToolContext.current
        do {
            let settings = try self.settings()
            server.apply(try Access(settings))
            context.say("the access settings are read again")
            guard settings.addresses != old.addresses else { return }
            context.say("serve.listen has changed: restart the server")
        } catch {
            for line in session.lines(of: error) {
                context.say("the access settings stay as they were: \(line)".safe)
            }
        }
    }

    private func write(to file: String) throws -> ToolStatus {
        let session = try ServeSession(self)
        session.settle(within: .seconds(5))
        try MetricsText.write(String(decoding: session.metrics(false), as: UTF8.self), to: file)
        return .satisfied
    }
}

extension ServeAddress {
    /// What a person can open.
    fileprivate var link: String {
        switch self {
        case .unix(let path): path
        case .internet: "http://\(self)/"
        }
    }
}

extension Access {
    /// Who may ask, as a configuration says.
    ///
    /// - Throws: `ToolFailure` when others could read along.
    init(_ settings: ServeSettings) throws {
        self.init()
        self.allowedHosts = Set(settings.allowedHosts)
        self.allowedOrigins = Set(settings.allowedOrigins)
        self.trustedProxies = Set(settings.trustedProxies)
        if settings.showsHostName {
            let name = FileAccess.contents("/proc/sys/kernel/hostname")?.split(separator: "\n").first
            self.shownHost = name.map { String($0) }
        }
        if let file = settings.tokenFile {
            do throws(TokenFile.Failure) {
                self.token = try TokenFile.read(file)
            } catch {
                throw ToolFailure(.badConfiguration, error.sentence(of: file))
            }
        }
        for address in settings.addresses where !address.isLocal {
            guard self.token != nil, !self.trustedProxies.isEmpty else {
                throw ToolFailure(
                    .badConfiguration,
                    """
                    other machines could read what goes over \(address): that takes a token (serve.tokenFile) and a proxy \
                    with TLS in front (serve.trustedProxies)
                    """
                )
            }
        }
    }
}

extension TokenFile.Failure {
    fileprivate func sentence(of file: String) -> String {
        switch self {
        case .system(let error): "the file with the token, \(file): \(error)"
        case .isPublic:
            "the file with the token, \(file), may be read by every user of this machine, or changed by its group: "
                + "'chmod 640 \(file)' keeps it to its owner and group"
        case .noToken:
            "\(file) holds no token: \(SecretToken.minimum) or more characters of ASCII without white space"
        }
    }
}
