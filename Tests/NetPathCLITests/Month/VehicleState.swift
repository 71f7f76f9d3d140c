// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

@testable import NetPath

/// What a vehicle's networks are at a moment: that of the depot, that of the driver's home, and the cellular one.
struct VehicleState: Hashable, Sendable {
    enum Network: UInt8, CaseIterable, Sendable {
        case depot
        case home
        case cellular

        var name: String {
            switch self {
            case .depot: "eth0"
            case .home: "wlan0"
            case .cellular: "wwan0"
            }
        }

        fileprivate var address: String { "192.0.2.\(10 + self.rawValue)/24" }

        fileprivate var interface: NetworkInterface {
            switch self {
            case .depot: .wired(self.name, 2)
            case .home: .wifi(self.name, 3)
            case .cellular: .cellular(self.name, 4)
            }
        }
    }

    /// How far a network has come; the interfaces of the others are down.
    enum Stage: UInt8, CaseIterable, Sendable {
        case routed
        case noRoute
        case noAddress
        case noCarrier
    }

    var network: Network
    var stage: Stage

    /// Every state that leads to a path of its own.
    static let all: [VehicleState] = Network.allCases.flatMap { network in
        Stage.allCases.map { VehicleState(network: network, stage: $0) }
    }

    /// What a backend sees.
    var evidence: Evidence {
        let interfaces = Network.allCases.map { network in
            let interface = network.interface
            guard network == self.network else { return interface.down() }
            return switch self.stage {
            case .routed, .noRoute: interface.with(network.address)
            case .noAddress: interface
            case .noCarrier: interface.withoutCarrier()
            }
        }
        let evidence = Evidence.seeing(.loopback(), interfaces[0], interfaces[1], interfaces[2])
        guard self.stage == .routed else { return evidence }
        return evidence.routed(.ipv4, through: interfaces[Int(self.network.rawValue)], gateway: "192.0.2.1")
    }

    /// What the path has to be then.
    var expected: (status: PathStatus, reason: PathReason.Code) {
        switch self.stage {
        case .routed: (.satisfied, .routed)
        case .noRoute: (.unsatisfied, .noRoute)
        // A modem gives its interface an address when it is connected.
        case .noAddress where self.network == .cellular: (.requiresConnection, .modemNotConnected)
        case .noAddress: (.unsatisfied, .noAddress)
        case .noCarrier:
            switch self.network {
            case .depot: (.unsatisfied, .noCarrier)
            case .home: (.requiresConnection, .wifiNotAssociated)
            case .cellular: (.requiresConnection, .modemNotConnected)
            }
        }
    }

    /// The interface that carries the path; nil where none does.
    var carrier: String? { self.stage == .routed ? self.network.name : nil }
}
