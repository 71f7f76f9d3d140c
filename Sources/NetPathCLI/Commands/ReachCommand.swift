// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import NetPathConfiguration
import NetPathSystem
import Reachability

/// `netpath reach`.
struct ReachCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Tell whether packets to a host would be sent, and which way, without sending any.",
        discussion: """
            Asks the kernel what it would do with packets to each address of the host; one that it would send to is \
            enough. A name is looked up by the system's resolver; nothing else leaves this machine. Whether the \
            host is switched on shows only with --connect. Addresses that connect(2) refuses cannot be reached, whatever \
            the routes: broadcast addresses, multicast groups, and an IPv6 link-local address without its interface \
            (fe80::1%eth0).

            The exit status is 0 when the host can be reached, 1 when it cannot, 69 when that is unknown, for example \
            because the name is not found. With --connect it is 0 when the connection was made, and 1 when it was not. \
            With --watch it is 0, and SIGINT, SIGTERM and the end of the reader end it.
            """
    )

    @Argument(help: ArgumentHelp("The host: a name, an address or a URL.", valueName: "host[:port]"))
    var host: String

    @Flag(help: "Go on, and write a line for every change.")
    var watch = false

    @Flag(help: "Make a TCP connection to the port, and close it at once.")
    var connect = false

    @OptionGroup
    var timeout: TimeoutOptions

    @OptionGroup(title: "Global options")
    var options: GlobalOptions

    func validate() throws {
        let target = try HostTarget(typed: self.host)
        if self.connect, self.watch { throw ValidationError("--connect is done once: leave out --watch") }
        if self.connect, target.port == nil { throw ValidationError("--connect needs a port, as in example.net:443") }
    }

    func execute() throws -> ToolStatus {
        let target = try HostTarget(typed: self.host)
        let loop = try EventLoop()
        if self.watch { loop.wakeUp.stopOnSignals() }
        let configuration = try self.options.runnableConfiguration()
        // What the backends complain about is for the other commands; only what is worse needs a message here.
        let log = ToolContext.current.log(from: .error)
        let coordinator = configuration.makeCoordinator(clock: loop, executor: loop, log: log.write)
        coordinator.subscribeSnapshots { _ in loop.wakeUp.wake(.output) }
        coordinator.start(once: !self.watch)
        let host = HostWatch(target.host, on: coordinator, files: self.watch ? .shared : nil)
        defer {
            host.end()
            coordinator.stop()
        }
        host.start()
        let isStopped = self.settle(host, coordinator, on: loop)
        if self.watch { return isStopped ? .satisfied : try self.follow(host, target, on: loop) }

        var status = host.ask()
        if status.reason.code == .resolving, case .name(let name) = target.host {
            let message = "\(name) was not looked up within \(DurationText.format(self.timeout.timeout.duration))"
            status = .unknown(PathReason(.resolving, message))
        }
        var snapshot = HostSnapshot(target: target, status: status, takenAt: .now())
        if self.connect, let port = target.port {
            snapshot.connection = try Self.connect(to: target, port: port, limit: self.timeout.timeout.duration)
        }
        try self.options.write(snapshot.document, or: snapshot.screen)
        return ToolStatus(snapshot)
    }

    /// Waits until every backend has reported and the name is looked up, or until the time for it is over.
    ///
    /// - Returns: Whether a signal ended the waiting.
    private func settle(_ host: HostWatch, _ coordinator: PathCoordinator, on loop: EventLoop) -> Bool {
        let subscription = host.subscribe { _ in loop.wakeUp.wake(.output) }
        defer { if let subscription { host.unsubscribe(subscription) } }
        return loop.wait(until: loop.now() + self.timeout.timeout.duration) {
            let snapshots = coordinator.snapshots
            return !snapshots.contains(where: \.report.isSilent) && !snapshots.awaitStandby
                && host.ask().reason.code != .resolving
        }
    }

    private func follow(_ host: HostWatch, _ target: HostTarget, on loop: EventLoop) throws -> ToolStatus {
        guard let descriptor = try WatchDescriptor.ofReader() else { return .satisfied }
        let output = WatchOutput<HostSnapshot>(descriptor, loop: loop) { [isJSON = self.options.json] snapshot, _ in
            isJSON ? snapshot.document.line + "\n" : snapshot.line { $0.local }
        }
        let subscription = host.subscribe { output.show(HostSnapshot(target: target, status: $0, takenAt: .now())) }
        defer { if let subscription { host.unsubscribe(subscription) } }
        if case .failed(let error) = output.run(onSilence: {}) { throw error }
        return .satisfied
    }

    /// Connects once, by what the TCP probe does in a round.
    private static func connect(to target: HostTarget, port: UInt16, limit: Duration) throws -> ProbeOutcome {
        let target = target.probed(at: port)
        let text = "backends: [{type: tcpProbe, targets: [\"\(target)\"]}]"
        let source = ConfigurationSource(name: "--connect", text: text)
        let inquiry = try OneShotCommand.ask(LoadedConfiguration.parse(source), limit: limit)
        let outcome = inquiry.snapshots.first?.evidence?.probes?.outcomes.first
        return outcome ?? ProbeOutcome(target: target, result: .timedOut)
    }
}
