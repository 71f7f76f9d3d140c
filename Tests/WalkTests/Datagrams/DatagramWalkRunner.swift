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
        /// Wrong verdicts of the kind that nobody could have avoided, see ``DatagramWalkRunner/isExempt``.
        var exempt = 0
        /// What was wrong.
        var failures: [String] = []
    }

    private let walk: DatagramWalk
    private let stage: DatagramStage
    private let monitor: MonitorProcess
    private var outcome = Outcome()

    /// Where a datagram is not expected to come back: one that does takes a millisecond, and is sent several times.
    private static let moment: Duration = .milliseconds(250)
    /// Where it is: shorter than neighbour discovery takes to fail, after which IPv6 may choose another router.
    private static let patience: Duration = .milliseconds(2500)

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
        let rule = walk.kind == .endpointKnown ? walk.network.endpointRule : ""
        self.monitor = try self.stage.startMonitor(rules: rule)
    }

    private mutating func run() throws {
        try self.compare("before the first step")
        for (number, step) in self.walk.steps.enumerated() {
            try self.stage.take(step)
            try self.compare("after step \(number + 1) (\(step))")
        }
        // Where everything is whole datagrams do come back: otherwise the walk, not the program, were wrong.
        var faults = self.walk.steps.last?.faults ?? self.walk.firstFaults
        while let fault = faults.popFirst() {
            try self.stage.take(DatagramWalk.Step(fault: fault, isMended: true, faults: faults))
        }
        try self.compare("when everything was mended")
        if try !self.stage.lab.reachesInternet(within: Self.patience) {
            self.outcome.failures.append("no datagram comes back when everything was mended\n\(try self.stage.state())")
        }
        let fresh = try self.stage.freshStatus()
        if fresh != "satisfied" { self.outcome.failures.append("a fresh program says \(fresh) when all was mended") }
        let status = try self.monitor.stop()
        if status != 0 || self.monitor.standardError.contains("Sanitizer") {
            self.outcome.failures.append("the program ended with \(status): \(self.monitor.standardError)")
        }
    }

    private mutating func compare(_ moment: String) throws {
        self.outcome.comparisons += 1
        let first = try self.stage.settled(self.monitor)
        let isSaid = first["status"] == "satisfied"
        var isTrue = try self.stage.lab.reachesInternet(within: Self.moment)
        if isTrue { self.outcome.answered += 1 }
        guard isTrue != isSaid else { return }
        // The kernel may have been slower than the program; what both say afterwards counts.
        let line = try self.stage.settled(self.monitor)
        let isSaidNow = line["status"] == "satisfied"
        isTrue = try self.stage.lab.reachesInternet(within: Self.patience)
        guard isTrue != isSaidNow else { return }
        if try isSaidNow && self.isExempt() {
            self.outcome.exempt += 1
            return
        }
        self.outcome.failures.append(
            """
            \(moment) datagrams \(isTrue ? "come" : "do not come") back, and the program says \
            \(line["status"]?.string ?? "nothing") (fresh: \(try self.stage.freshStatus())): \
            \(line["reason"]?["detail"]?.string ?? line["reason"]?["code"]?.string ?? "")
            \(try self.stage.state())
            """
        )
    }

    /// Whether nobody could know better: the endpoint's own route is what is broken, and an uplink is usable.
    ///
    /// Only where no rule names the endpoint. Both are decided by datagrams: one sent as the tunnel sends its own does
    /// not come back, one to the router of some uplink does.
    private func isExempt() throws -> Bool {
        let network = self.walk.network
        guard self.walk.kind == .endpointUnknown, let endpoint = network.endpoint else { return false }
        let lab = self.stage.lab
        guard try lab.answers(from: [[endpoint]], within: Self.moment, options: network.endpointOptions).isEmpty else {
            return false
        }
        return try network.uplinks.contains { uplink in
            let gateways = uplink.families.map { [uplink.address($0, host: 1)] }
            let options = DatagramOptions(device: uplink.name)
            return try !lab.answers(from: gateways, within: Self.moment, options: options).isEmpty
        }
    }
}
