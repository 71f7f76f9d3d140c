// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// A random history of a network in which one thing at a time breaks or is mended.
///
/// A pure function of its seed; what each step leads to only the kernel knows.
struct DatagramWalk: Sendable, CustomStringConvertible {
    /// Something that breaks, or is mended.
    struct Step: Sendable, CustomStringConvertible {
        var fault: Fault
        var isMended: Bool
        /// What is broken afterwards.
        var faults: Set<Fault>

        var description: String {
            "\(self.isMended ? "mend" : "break") \(self.fault)"
                .replacing("NetPathTestKit.NetworkNamespace.Family.", with: "")
        }
    }

    /// What a walk is about.
    enum Kind: String, CaseIterable, Sendable {
        case withoutTunnel
        /// A rule of the configuration names the tunnel's endpoint.
        case endpointKnown
        /// The same walks without that rule.
        case endpointUnknown
    }

    let seed: UInt64
    let kind: Kind
    let network: DatagramNetwork
    /// What is broken when the monitor starts.
    let firstFaults: Set<Fault>
    let steps: [Step]

    init(seed: UInt64, kind: Kind, length: Int = 10) {
        var numbers = SeededGenerator(seed: seed)
        var network = Self.uplinks(&numbers)
        let tunnel = Self.tunnel(over: network, &numbers)
        if kind != .withoutTunnel { network.tunnel = tunnel }
        let possible = network.possibleFaults
        var faults: Set<Fault> = []
        if Self.chance(30, &numbers), let fault = possible.randomElement(using: &numbers) { faults.insert(fault) }
        self.firstFaults = faults
        var steps: [Step] = []
        while steps.count < length {
            let isMended = Self.chance([0, 45, 55, 90][min(faults.count, 3)], &numbers)
            // Sorted: the order of a set is another one in each process.
            let candidates = isMended ? possible.filter(faults.contains) : possible
            guard let fault = candidates.randomElement(using: &numbers),
                isMended || !faults.contains(fault) && Self.canBreak(fault, beside: faults)
            else { continue }
            if isMended { faults.remove(fault) } else { faults.insert(fault) }
            steps.append(Step(fault: fault, isMended: isMended, faults: faults))
        }
        self.seed = seed
        self.kind = kind
        self.network = network
        self.steps = steps
    }

    private static func chance(_ percent: Int, _ numbers: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &numbers) < percent
    }

    private static func uplinks(_ numbers: inout SeededGenerator) -> DatagramNetwork {
        let uplinks = (0..<Int.random(in: 1...2, using: &numbers)).map { number in
            let families: [[DatagramNetwork.Family]] = [[.ipv4], [.ipv4, .ipv6], [.ipv4, .ipv6], [.ipv6]]
            return DatagramNetwork.Uplink(
                number: number,
                families: families[Int.random(in: 0...3, using: &numbers)],
                gatewayIsLinkLocal: Self.chance(50, &numbers)
            )
        }
        return DatagramNetwork(uplinks: uplinks, ignoresRoutesWithoutCarrier: Self.chance(40, &numbers))
    }

    private static func tunnel(
        over network: DatagramNetwork,
        _ numbers: inout SeededGenerator
    ) -> DatagramNetwork.Tunnel? {
        typealias Tunnel = DatagramNetwork.Tunnel
        let families: [[DatagramNetwork.Family]] = [[.ipv4], [.ipv4, .ipv6], [.ipv6]]
        guard let entry = Tunnel.Entry.allCases.randomElement(using: &numbers),
            let uplink = network.uplinks.randomElement(using: &numbers),
            let endpointFamily = uplink.families.randomElement(using: &numbers),
            let inner = families.randomElement(using: &numbers)
        else { return nil }
        var exits: [Tunnel.Exit] = [.onLink(uplink: uplink.number), .hostRoute(uplink: uplink.number)]
        // Without a mark the default route leads into the tunnel itself, unless that carries the other family only.
        if entry.mark == nil { exits.append(.boundDevice(uplink: uplink.number)) }
        if entry.mark != nil || !inner.contains(endpointFamily) { exits += [.defaultRoute, .defaultRoute] }
        guard let exit = exits.randomElement(using: &numbers) else { return nil }
        return Tunnel(families: inner, entry: entry, exit: exit, endpointFamily: endpointFamily)
    }

    /// Whether something is there to be broken.
    private static func canBreak(_ fault: Fault, beside faults: Set<Fault>) -> Bool {
        switch fault {
        case .cableOut(let uplink): !faults.contains(.uplinkRemoved(uplink))
        case .uplinkDown(let uplink): !faults.contains(.uplinkRemoved(uplink))
        case .addressLost(let uplink, _), .defaultRouteLost(let uplink, _):
            !faults.contains(.uplinkRemoved(uplink)) && !faults.contains(.uplinkDown(uplink))
        case .tunnelDown, .tunnelAddressLost, .tunnelRouteLost: !faults.contains(.tunnelEnded)
        case .uplinkRemoved, .tunnelEnded, .endpointRouteLost: true
        }
    }

    /// The seed and every command, for whoever has to find out what went wrong.
    var description: String {
        let network = self.network
        var lines = [
            "walk of seed \(self.seed), \(self.kind.rawValue), repeat with NETPATH_WALK_SEED=\(self.seed); routes "
                + "without carrier are \(network.ignoresRoutesWithoutCarrier ? "ignored" : "used")",
            "before: \(Self.text(network.preparation(without: self.firstFaults)))",
        ]
        if network.tunnel != nil {
            let options = network.endpointOptions
            let setting = options.mark.map { "mark \($0)" } ?? options.device.map { "bound to \($0)" } ?? "no mark"
            let commands = Self.text(network.configuringTunnel(without: self.firstFaults))
            lines.append("    tunnel to \(network.endpoint ?? "?"), \(setting): \(commands)")
        }
        for (number, step) in self.steps.enumerated() {
            let commands =
                step.isMended ? network.mending(step.fault, without: step.faults) : network.breaking(step.fault)
            lines.append("step \(number + 1): \(step): \(Self.text(commands))")
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ commands: [WalkCommand]) -> String { commands.map(\.text).joined(separator: "; ") }
}
