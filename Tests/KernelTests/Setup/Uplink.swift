// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A link that leads out of the machine, to where every address answers.
struct Uplink: Sendable {
    let name: String
    /// Commands of `ip` that configure it, repeatable: `address replace …`, `route replace …`.
    let configuration: [String]

    init(_ name: String, _ configuration: String...) {
        self.init(name, configuration)
    }

    init(_ name: String, _ configuration: [String]) {
        self.name = name
        self.configuration = configuration
    }

    /// The families of a link.
    enum Families: Sendable {
        case ipv4
        case ipv6
        case both
    }

    /// An uplink as most are, with the gateway .1 or ::1 of a network of its own.
    ///
    /// - Parameters:
    ///   - name: The interface's name.
    ///   - number: Which uplink of the machine it is, from 1.
    ///   - families: Its families.
    ///   - metric: The metric of its default routes.
    /// - Returns: The uplink.
    static func routed(_ name: String, _ number: Int = 1, _ families: Families = .both, metric: Int = 100) -> Uplink {
        var configuration: [String] = []
        if families != .ipv6 {
            configuration += [
                "address replace 192.168.\(number).2/24 dev \(name)",
                "route replace default via 192.168.\(number).1 dev \(name) metric \(metric)",
            ]
        }
        if families != .ipv4 {
            configuration += [
                "address replace 2001:db8:\(number)::2/64 dev \(name) nodad",
                "route replace default via 2001:db8:\(number)::1 dev \(name) metric \(metric)",
            ]
        }
        return Uplink(name, configuration)
    }

    /// A rule that lets a veth, which could as well lead nowhere, stand for a network card.
    static func isHardware(_ name: String) -> String { "{match: {name: \(name)}, uplink: true}" }

    /// Configures it.
    var configure: [Command] { self.configuration.map { .host($0) } }
}

/// What usually happens to an uplink.
enum Failure: CaseIterable, Sendable {
    case carrier
    case interface
    case route
    case address
    case removal
}

extension Uplink {
    /// Failures of the uplink, each with its recovery.
    ///
    /// - Parameters:
    ///   - kinds: The failures.
    ///   - after: What other software does when the uplink has been configured again.
    /// - Returns: The steps.
    func failures(_ kinds: [Failure] = Failure.allCases, then after: [Command] = []) -> [Step] {
        kinds.flatMap { kind in
            let (failure, recovery, breaking, repairing) = self.steps(kind)
            return [
                Step("\(self.name): \(failure)", breaking),
                Step("\(self.name): \(recovery)", repairing + self.configure + after),
            ]
        }
    }

    private typealias FailureAndRecovery = (
        failure: String, recovery: String, breaking: [Command], repairing: [Command]
    )

    private func steps(_ failure: Failure) -> FailureAndRecovery {
        switch failure {
        case .carrier:
            ("the cable is unplugged", "the cable is plugged in", [.unplug(self.name)], [.plugIn(self.name)])
        case .interface:
            (
                "the interface is set down", "the interface is set up and configured",
                [.host("link set \(self.name) down")], [.host("link set \(self.name) up")]
            )
        case .route:
            ("its routes are removed", "its routes are back", self.removal(of: "route"), [])
        case .address:
            ("its addresses are removed", "its addresses and routes are back", self.removal(of: "address"), [])
        case .removal:
            (
                "the interface is removed", "the interface is there and configured again",
                [.host("link del \(self.name)")], [.connect(self.name)]
            )
        }
    }

    /// Removes what its configuration made.
    ///
    /// - Parameter object: `address` or `route`.
    /// - Returns: The commands.
    func removal(of object: String) -> [Command] {
        // In the other direction: a gateway's own route must not go before what leads through the gateway.
        self.configuration.filter { $0.contains("\(object) replace ") }.reversed().map { line in
            .host(line.replacing("\(object) replace ", with: "\(object) del ").replacing(" nodad", with: ""))
        }
    }
}
