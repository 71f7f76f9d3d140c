// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Reachability

/// What is known at a moment.
struct WaitView: Sendable {
    /// The path; nil while no backend has a verdict.
    var path: NetworkPath?
    /// What each backend says that this program asks.
    var snapshots: [BackendSnapshot] = []
    /// How the backends are used that it does not ask, by their names.
    var leftOut: [String: BackendMode] = [:]
    /// Whether the path is that of a service, which asks them.
    var isServed = false
    /// The path by what this program asks.
    var ownPath: NetworkPath?
    /// What is said while there is no path.
    var silence = "no backend has a verdict yet"
    /// What is known of the hosts that are waited for.
    var hosts: [HostTarget: WaitedHost] = [:]
    /// What verdicts depend on besides the evidence.
    var policy = EvaluationPolicy()

    /// Takes the path of a service; nil where there is no service any more.
    mutating func serve(_ path: NetworkPath?) {
        self.isServed = path != nil
        self.path = path ?? self.ownPath
    }

    /// Takes the path by what this program asks.
    mutating func see(_ path: NetworkPath?) {
        self.ownPath = path
        if !self.isServed { self.path = path }
    }

    /// The first healthy backend that sees interfaces.
    var witness: BackendSnapshot? {
        self.snapshots.first { $0.report.health == .healthy && $0.evidence?.ofThisMachine.interfaces != nil }
    }

    /// The interfaces that could ever carry a path; nil when no healthy backend sees any.
    func interfaces(at now: MonotonicTime) -> [WaitedInterface]? {
        guard let evidence = self.witness?.evidence?.ofThisMachine else { return nil }
        let assessed = AssessedEvidence(evidence, policy: self.policy, now: now)
        return assessed.candidates.compactMap { interface in
            assessed.assessments[interface.index].map { WaitedInterface(interface, $0) }
        }
    }
}

/// What an interface has, and what it lacks.
struct WaitedInterface: Hashable, Sendable {
    /// How far it has come, the farthest first.
    enum Stage: Comparable {
        /// It has all that it takes.
        case up
        /// A step is pending, or can be started: authentication, an address, a Wi-Fi network, a modem, a call.
        case pending
        /// It has a carrier, and lacks an address or a default route.
        case lacksConfiguration
        /// It is up, and has no carrier.
        case lacksCarrier
        /// It is administratively down, or a radio switch blocks it.
        case idle
    }

    var index: UInt32
    var name: String
    var type: InterfaceType
    var stage: Stage
    /// What it lacks, for people.
    var reason: String

    init(_ interface: NetworkInterface, _ assessment: InterfaceAssessment) {
        self.index = interface.index
        self.name = interface.name
        self.type = interface.type
        self.reason = assessment.reason.message
        self.stage =
            switch assessment.code {
            case .authenticating, .configuringAddress, .wifiNotAssociated, .modemNotConnected, .dialOnDemand: .pending
            case _ where assessment.isUsable && interface.defaultRoutes?.isEmpty == false: .up
            case _ where assessment.isUsable: .lacksConfiguration
            case .noCarrier: .lacksCarrier
            default: .idle
            }
    }
}
