// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// A random stack of virtual interfaces on one or two uplinks, with the default route on top of it, and a random history in
/// which one part at a time is broken or mended.
///
/// A pure function of its seed. What of it carries packets only the kernel knows.
struct StackWalk {
    /// Something that can be broken and mended by itself.
    private struct Part {
        let name: String
        let breaking: Command
        let mending: [Command]
    }

    private static let length = 12
    private static let top = "10.9.0"

    private var numbers: SeededGenerator
    private var prepare: [Command] = []
    private var parts: [Part] = []
    /// The uplinks that tunnels are bound to.
    private var bound: Set<String> = []

    /// - Parameter seed: What the walk is a function of.
    /// - Returns: The walk, as a setup that may be in doubt.
    static func setup(seed: UInt64) -> Setup {
        var walk = StackWalk(numbers: SeededGenerator(seed: seed))
        var setup = walk.setup(title: "stack of seed \(seed)")
        setup.isRandom = true
        return setup
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.numbers) < percent }

    private mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self.numbers)]
    }

    private mutating func setup(title: String) -> Setup {
        let uplinks = (1...Int.random(in: 1...2, using: &self.numbers)).map { self.uplink($0) }
        for uplink in uplinks {
            self.prepare += [.connect(uplink.name)] + uplink.configure
            self.addCable(of: uplink.name)
        }
        let vxlans = (0..<Int.random(in: 1...2, using: &self.numbers)).map { self.vxlan($0, over: uplinks) }
        for line in uplinks.flatMap(\.configuration) {
            // What is bound to an interface goes to its link where there is no route, and everything answers there.
            if self.bound.contains(where: { line.contains("address") && line.hasSuffix($0) }) { continue }
            let undone = line.replacing(" replace ", with: " del ")
            self.parts.append(Part(name: undone, breaking: Self.force(undone), mending: []))
        }
        let uppermost = self.stack(over: vxlans)
        let configuration = [
            "address replace \(Self.top).2/24 dev \(uppermost)",
            "route replace default via \(Self.top).1 dev \(uppermost) metric 10",
        ]
        self.prepare += configuration.map { .host($0) }
        // Neighbours that did not answer are asked again soon.
        self.prepare.append(.shell("ip ntable change name arp_cache dev \(uppermost) retrans 100"))
        return Setup(
            title,
            uplinks: [],
            rules: "",
            prepare: self.prepare,
            steps: self.steps(restoring: uplinks.flatMap(\.configuration) + configuration)
        )
    }

    private mutating func uplink(_ number: Int) -> Uplink {
        let name = "wan\(number)"
        let gateway = "via 192.168.\(number).1 dev \(name)"
        var routes = ["route replace 203.0.113.\(number) \(gateway)"]
        if self.chance(50) { routes.append("route replace default \(gateway) metric \(100 * number)") }
        if self.chance(50) { routes.append("route replace 198.51.100.0/24 \(gateway) metric \(100 * number)") }
        return Uplink(name, ["address replace 192.168.\(number).2/24 dev \(name)"] + routes)
    }

    /// A far end: behind one router, behind whichever has a route, or on a link.
    private mutating func farEnd() -> String {
        self.any(["203.0.113.1", "203.0.113.2", "198.51.100.7", "198.51.100.8", "192.168.1.77", "192.168.2.77"])
    }

    private mutating func vxlan(_ number: Int, over uplinks: [Uplink]) -> String {
        let name = "vx\(number)"
        var line = "link add \(name) up type vxlan id \(100 + number) dstport \(4789 + number)"
        let bound = self.chance(30) ? self.any(uplinks) : nil
        if let bound { self.bound.insert(bound.name) }
        let farEnd = bound.map(\.onLink) ?? self.farEnd()
        if self.chance(60) { line += " remote \(farEnd)" }
        if let bound { line += " dev \(bound.name)" }
        if self.chance(30) { line += " local 192.168.1.2" }
        if self.chance(40) { line += " nolearning" }
        self.prepare.append(.host(line))
        self.addState(of: name)
        for _ in 0..<Int.random(in: line.contains("remote") ? 0...2 : 1...3, using: &self.numbers) {
            var entry = "00:00:00:00:00:00 dev \(name) dst \(bound.map(\.onLink) ?? self.farEnd())"
            if bound == nil, self.chance(20) {
                let uplink = self.any(uplinks)
                self.bound.insert(uplink.name)
                entry = "00:00:00:00:00:00 dev \(name) dst \(uplink.onLink) via \(uplink.name)"
            }
            let adding = Self.tolerant("bridge fdb append \(entry)")
            self.prepare.append(adding)
            self.parts.append(
                Part(name: "no entry \(entry)", breaking: Self.tolerant("bridge fdb del \(entry)"), mending: [adding])
            )
        }
        return name
    }

    /// What stands on the tunnels.
    ///
    /// - Returns: The name of its uppermost interface.
    private mutating func stack(over vxlans: [String]) -> String {
        var uppermost = vxlans[0]
        if vxlans.count > 1 || self.chance(50) {
            var ports = vxlans
            if self.chance(30) { ports.append(self.cable()) }
            if self.chance(30) { ports[0] = self.macvlan(on: ports[0], mode: "passthru") }
            if self.chance(40) { ports[0] = self.pair(to: ports[0]) }
            self.bridge("br0", ports)
            uppermost = "br0"
        }
        return self.chance(30) ? self.macvlan(on: uppermost, mode: "bridge") : uppermost
    }

    /// A port of a bridge with something else behind it.
    private mutating func cable() -> String {
        self.prepare.append(.connect("lan0"))
        self.addCable(of: "lan0")
        return "lan0"
    }

    private mutating func macvlan(on lower: String, mode: String) -> String {
        let name = "mv-\(lower)"
        self.prepare.append(.host("link add \(name) link \(lower) up type macvlan mode \(mode)"))
        self.addState(of: name)
        return name
    }

    /// A bridge of its own for a port, and a pair of veths that leads there.
    private mutating func pair(to port: String) -> String {
        self.prepare += ["link add ve0 up type veth peer name ve1", "link set ve1 up"]
        self.bridge("br1", [port, "ve1"])
        self.addState(of: "ve0")
        self.addState(of: "ve1")
        return "ve0"
    }

    private mutating func bridge(_ name: String, _ ports: [String]) {
        self.prepare.append(.host("link add \(name) up type bridge"))
        self.addState(of: name)
        for port in ports {
            self.prepare.append(.host("link set \(port) master \(name)"))
            self.parts.append(
                Part(
                    name: "\(port) is no port",
                    breaking: .host("link set \(port) nomaster"),
                    mending: [.host("link set \(port) master \(name)")]
                )
            )
        }
    }

    private mutating func addCable(of name: String) {
        self.parts.append(Part(name: "\(name) without cable", breaking: .unplug(name), mending: [.plugIn(name)]))
        self.addState(of: name)
    }

    private mutating func addState(of name: String) {
        let (down, up) = ("link set \(name) down", "link set \(name) up")
        self.parts.append(Part(name: "\(name) is down", breaking: .host(down), mending: [.host(up)]))
    }

    // MARK: History

    private mutating func steps(restoring configuration: [String]) -> [Step] {
        var broken: [Int] = []
        return (0..<Self.length).map { _ in
            if let position = broken.indices.randomElement(using: &self.numbers), self.chance(20 * broken.count) {
                let part = self.parts[broken.remove(at: position)]
                let names = broken.map { self.parts[$0].name }
                // What the kernel took along with it comes back, save what is broken itself.
                let lines = configuration.filter { !names.contains($0.replacing(" replace ", with: " del ")) }
                return Step("mend: \(part.name)", part.mending + lines.map(Self.force))
            }
            let whole = self.parts.indices.filter { !broken.contains($0) }
            let chosen = self.any(whole)
            broken.append(chosen)
            return Step("break: \(self.parts[chosen].name)", [self.parts[chosen].breaking])
        }
    }

    /// A command of `ip` that may find nothing to do, as what it changes is gone or down.
    private static func force(_ line: String) -> Command { self.tolerant("ip \(line)") }

    private static func tolerant(_ line: String) -> Command { .shell("\(line) 2>/dev/null || true") }
}

extension Uplink {
    /// A far end on the link.
    fileprivate var onLink: String { "192.168.\(self.name.suffix(1)).77" }
}
