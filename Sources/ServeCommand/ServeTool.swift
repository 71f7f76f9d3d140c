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

    /// What messages name: the program that this one serves.
    static let program = "netpath"

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
        // What watches the network needs some, too.
        limits.connections = min(limits.connections, max(16, OpenFiles.raiseLimit() - 256))
        let session = try ServeSession(self)
        let server = StatusServer(access, limits: limits, document: session.document) { work in
            switch work {
            case .metrics(let isOpenMetrics): session.metrics(isOpenMetrics)
            case .details: session.details()
            case .history(let hours): session.history(hours: hours)
            }
        }
        defer { server.stop() }
        let source = session.isAttached ? "attached to the service" : "watching by itself"
        for address in settings.addresses {
            do {
                let bound = try server.listen(on: address)
                ToolContext.current.say("\(source), listening on \(bound.link)")
            } catch let error as SystemError where error.isAddressInUse {
                let advice = "--listen, or 'serve.listen' in the configuration, names another"
                throw ToolFailure(.failure, "\(error.description): \(advice)")
            }
        }
        try session.run { server.publish($0) }
        return .satisfied
    }

    private func write(to file: String) throws -> ToolStatus {
        let session = try ServeSession(self)
        session.settle(within: .seconds(5))
        guard let bytes = session.metrics(false) else { throw ToolFailure(.failure, "the service does not answer") }
        try MetricsText.write(String(decoding: bytes, as: UTF8.self), to: file)
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
        if let file = settings.tokenFile {
            guard let text = FileAccess.contents(file) else {
                throw ToolFailure(.badConfiguration, "the file with the token, \(file), cannot be read")
            }
            guard let token = SecretToken(text) else {
                throw ToolFailure(
                    .badConfiguration,
                    "\(file) holds no token: \(SecretToken.minimum) or more characters of ASCII without white space"
                )
            }
            self.token = token
        }
        for address in settings.addresses where !address.isLocal {
            guard self.token != nil, !self.trustedProxies.isEmpty else {
                throw ToolFailure(
                    .badConfiguration,
                    """
                    other machines could read along on \(address): that takes a token (serve.tokenFile) and a proxy with \
                    TLS in front (serve.trustedProxies)
                    """
                )
            }
        }
    }
}
