// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// Takes a walk in a real namespace: after every step datagrams decide whether the program under test is right.
struct DatagramWalkRunner {
    /// What became of a walk.
    struct Outcome: Sendable {
        /// Verdicts that were compared.
        var comparisons = 0
        /// Those where a datagram came back.
        var answered = 0
        /// Wrong verdicts that nobody could have avoided.
        var exempt: [Exemption: Int] = [:]
        /// Where a program that had just started doubted, since it had not seen what carried the tunnel.
        var remembered = 0
        /// What was wrong.
        var failures: [String] = []
    }

    /// Why nobody could have known better, where no rule names the endpoint.
    enum Exemption: String, CaseIterable, Sendable {
        /// What is broken is the route to the endpoint alone; another uplink, or another route, may be the one it needs.
        case endpointRouteBroken
        /// Of the tunnel's packets only the mark is known, whose way led through another interface that is lost, and the
        /// endpoint is on the link: the one case in which the program says no although datagrams come back.
        case markedEndpointOnLink
        /// The uplinks never had a carrier: what holds the tunnel may need none of them.
        case noCarrierYet
        /// There is no uplink at all: what holds the tunnel may send from another namespace, as slirp4netns does.
        case noUplink
    }

    private let walk: DatagramWalk
    private let stage: DatagramStage
    private let monitor: MonitorProcess
    private var outcome = Outcome()

    /// Where a datagram is not expected to come back: one that does takes a millisecond, and is sent several times.
    private static let moment: Duration = .milliseconds(250)
    /// Where it is: shorter than neighbour discovery takes to fail, after which IPv6 may choose another router.
    private static let patience: Duration = .milliseconds(2500)
    /// How long a busy machine may keep the far side waiting.
    private static let longPatience: Duration = .seconds(20)

    /// Takes a walk to its end, and then back to where nothing is broken.
    ///
    /// - Returns: How the verdicts compared.
    /// - Throws: `LabError` where the kernel refuses a step or the program under test ends.
    static func take(_ walk: DatagramWalk) throws -> Outcome {
        var runner = try DatagramWalkRunner(walk)
        defer { runner.stage.lab.close() }
        try runner.run()
        return runner.outcome
    }

    private init(_ walk: DatagramWalk) throws {
        self.walk = walk
        self.stage = try DatagramStage(walk.network, without: walk.firstFaults)
        self.monitor = try self.stage.startMonitor(
            rules: walk.network.interfaceRules(namingEndpoint: walk.kind == .endpointKnown)
        )
    }

    private mutating func run() throws {
        try self.compare("before the first step", self.walk.firstFaults)
        for (number, step) in self.walk.steps.enumerated() {
            try self.stage.take(step)
            try self.compare("after step \(number + 1) (\(step))", step.faults)
        }
        // Where everything is whole datagrams do come back: otherwise the walk, not the program, were wrong.
        var faults = self.walk.steps.last?.faults ?? self.walk.firstFaults
        while let fault = faults.popFirst() {
            try self.stage.take(DatagramWalk.Step(fault: fault, isMended: true, faults: faults))
        }
        try self.compare("when everything was mended", [])
        if try !self.stage.lab.reachesInternet(within: Self.longPatience) {
            self.outcome.failures.append("no datagram comes back when everything was mended\n\(try self.stage.state())")
        }
        let status = try self.monitor.stop()
        if status != 0 || self.monitor.standardError.contains("Sanitizer") {
            self.outcome.failures.append("the program ended with \(status): \(self.monitor.standardError)")
        }
    }

    private mutating func compare(_ moment: String, _ faults: Set<Fault>) throws {
        self.outcome.comparisons += 1
        let first = try self.stage.settled(self.monitor)
        try self.compareFreshLook(moment, first)
        let isSaid = first["status"] == "satisfied"
        var isTrue = try self.stage.lab.reachesInternet(within: Self.moment)
        if isTrue { self.outcome.answered += 1 }
        guard isTrue != isSaid else { return }
        // The kernel may have been slower than the program; what both say afterwards counts.
        let line = try self.stage.settled(self.monitor)
        let isSaidNow = line["status"] == "satisfied"
        isTrue = try self.stage.lab.reachesInternet(within: Self.patience)
        guard isTrue != isSaidNow else { return }
        if let exemption = try isSaidNow ? self.exemption(faults) : self.exemptionOfNo() {
            self.outcome.exempt[exemption, default: 0] += 1
            return
        }
        if isSaidNow, try self.stage.lab.reachesInternet(within: Self.longPatience) { return }
        self.outcome.failures.append(
            """
            \(moment) datagrams \(isTrue ? "come" : "do not come") back, and the program says \
            \(line["status"]?.string ?? "nothing") \
            \(line["reason"]?["detail"]?.string ?? line["reason"]?["code"]?.string ?? "")
            \(try self.stage.state())
            """
        )
    }

    private mutating func compareFreshLook(_ moment: String, _ line: JSONLine) throws {
        let comparison = try self.stage.fresh.compare(
            with: line,
            remembering: self.walk.kind == .endpointUnknown ? .tunnelCarrier : nil
        ) { try self.stage.settled(self.monitor) }
        switch comparison {
        case .same: break
        case .remembered: self.outcome.remembered += 1
        case .differs(let difference):
            self.outcome.failures.append("\(moment) \(difference)\n\(try self.stage.state())")
        }
    }

    /// Why nobody could know that datagrams come back: marked ones come back from the endpoint and from nowhere else.
    private func exemptionOfNo() throws -> Exemption? {
        let network = self.walk.network
        guard self.walk.kind == .endpointUnknown, network.tunnel?.entry.mark != nil,
            case .onLink? = network.tunnel?.exit
        else { return nil }
        let internet = DatagramNetwork.Family.allCases.flatMap(NetworkNamespace.internet).map { [$0] }
        let asTunnel = network.endpointOptions
        let isAlone = try self.stage.lab.answers(from: internet, within: Self.moment, options: asTunnel).isEmpty
        return isAlone ? .markedEndpointOnLink : nil
    }

    /// Why nobody could know that datagrams do not come back, decided by other datagrams: one that is sent as the tunnel
    /// sends its own does not come back, but one to the router of some uplink does.
    private func exemption(_ faults: Set<Fault>) throws -> Exemption? {
        let network = self.walk.network
        guard self.walk.kind == .endpointUnknown, let tunnel = network.tunnel, let endpoint = network.endpoint else {
            return nil
        }
        let uplinks = network.uplinks.filter { !faults.contains(.uplinkRemoved($0.number)) }
        // The mark of a tunnel shows that its packets are to leave from here.
        if uplinks.isEmpty { return tunnel.entry.mark == nil ? .noUplink : nil }
        let lab = self.stage.lab
        if tunnel.entry.mark == nil {
            let counts = try uplinks.map { try lab.run("cat /sys/class/net/\($0.name)/carrier_up_count") }
            if counts.allSatisfy({ $0.hasPrefix("0") }) { return .noCarrierYet }
        }
        let asTunnel = network.endpointOptions
        guard try lab.answers(from: [[endpoint]], within: Self.moment, port: 51_821, options: asTunnel).isEmpty else {
            return nil
        }
        let isUsable = try uplinks.contains { uplink in
            let gateways = uplink.families.map { [uplink.address($0, host: 1)] }
            let options = DatagramOptions(device: uplink.name)
            return try !lab.answers(from: gateways, within: Self.moment, options: options).isEmpty
        }
        return isUsable ? .endpointRouteBroken : nil
    }
}
