// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit

@testable import OfflineRequests

/// A machine with a clock that only the test moves.
struct MachineLab {
    var machine: DeliveryMachine
    var now = Moment(
        wall: Date(timeIntervalSince1970: 1_800_000_000),
        bootID: "boot-1",
        bootNanoseconds: 1_000_000_000_000
    )

    init(_ settings: QueueSettings = QueueSettings(), seed: UInt64 = 1) {
        self.machine = DeliveryMachine(settings: settings, random: SeededGenerator(seed: seed))
    }

    /// Lets time pass on all clocks.
    mutating func advance(_ duration: Duration) {
        self.now.bootNanoseconds += duration.inNanoseconds
        self.now.wall += duration / .seconds(1)
    }

    /// Goes to a deadline of the machine.
    mutating func advance(to deadline: MonotonicTime) { self.advance(deadline - self.now.monotonic) }

    mutating func online(_ type: InterfaceType = .wifi) {
        self.machine.path(PathFacts(isSatisfied: true, over: type), at: self.now)
    }

    mutating func offline() {
        self.machine.path(PathFacts(isSatisfied: false, reason: "no carrier"), at: self.now)
    }

    /// Sends a request and ends it at once, whether it might go or not.
    mutating func attempt(
        _ request: RetryableRequest,
        _ result: Result<TransportResponse, TransportError>
    ) -> Disposition {
        self.machine.started(request.id, gate: Gate(request), at: self.now)
        return self.finish(request, result)
    }

    mutating func finish(
        _ request: RetryableRequest,
        _ result: Result<TransportResponse, TransportError>
    ) -> Disposition {
        self.machine.finished(request.id, request: request, result: result, at: self.now)
    }

    func waiting(_ request: RetryableRequest) -> WaitingReason? {
        self.machine.waiting(for: Gate(request), at: self.now)
    }

    func wake(_ request: RetryableRequest) -> MonotonicTime? {
        self.machine.nextWake(after: self.now, for: [Gate(request)])
    }
}

extension Result<TransportResponse, TransportError> {
    static func status(_ status: Int, _ headers: HeaderFields = [:]) -> Self {
        .success(TransportResponse(status: status, headers: headers))
    }

    static func error(_ reason: TransportError.Reason, _ progress: TransportError.Progress) -> Self {
        .failure(TransportError(reason, progress: progress, message: "it failed"))
    }

    static let notSent = Self.error(.refused, .notSent)
    static let lost = Self.error(.connectionLost, .mayHaveBeenReceived)
}

extension QueueSettings {
    /// The usual settings, but for these.
    static func with(minimumOnline: Duration = .seconds(1), reconnectJitter: Duration) -> Self {
        .with { ($0.minimumOnline, $0.reconnectJitter) = (minimumOnline, reconnectJitter) }
    }

    /// The usual settings, changed.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var settings = Self()
        change(&settings)
        return settings
    }
}

extension PathFacts {
    /// The facts of a path, or that nobody can tell.
    init(
        isSatisfied: Bool,
        isKnown: Bool = true,
        reason: String = "",
        isExpensive: Bool = false,
        isConstrained: Bool = false,
        over type: InterfaceType = .other,
        links: [AddressPrefix] = [],
        nearHosts: Set<String> = [],
        internet: InternetReachability = .unknown
    ) {
        var interface = PathInterface(index: 2, name: "if2", type: type, reason: PathReason(.routed, ""))
        interface.addresses = links
        var path = NetworkPath(
            isSatisfied ? .satisfied : .unsatisfied,
            PathReason(.routed, reason),
            interfaces: [interface]
        )
        (path.isExpensive, path.isConstrained, path.internet) = (isExpensive, isConstrained, internet)
        self.init(update: ConnectivityUpdate(isKnown ? path : nil), nearHosts: nearHosts)
    }
}

func post(
    _ host: String = "e.net",
    maxRetries: Int = 10,
    requires: PathRequirements = PathRequirements()
) -> RetryableRequest {
    var request = RetryableRequest(endpoint: "http://\(host)/", method: "POST", maxRetries: maxRetries)
    request.requires = requires
    return request
}
