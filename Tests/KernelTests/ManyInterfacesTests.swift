// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// One interface that matters among very many that do not.
@Suite(.needsNamespaces)
struct ManyInterfacesTests {
    private static let backends = ["netlink", "sysfs"]
    private static let dialling = "{match: {name: \"ppp*\"}, dialOnDemand: true}"
    private static let ignoring = "{match: {name: \"[cp][0-9]*\"}, ignore: true}"

    private func configuration(_ backend: String, _ rules: String...) -> String {
        "backends: [{type: \(backend)}]\ninterfaces: [\(rules.joined(separator: ", "))]\n"
    }

    /// Pairs of interfaces without an address, and a last interface that only a rule tells from them.
    private func lab(pairs: Int) throws -> NetworkNamespace {
        let lab = try NetworkNamespace()
        try lab.ipBatch((0..<pairs).map { "link add c\($0) up type veth peer name p\($0)" })
        try lab.ipBatch((0..<pairs).map { "link set p\($0) up" })
        try lab.ip("tuntap add ppp9 mode tun")
        try lab.ip("link set ppp9 up")
        return lab
    }

    @Test(arguments: Self.backends, [7, 8, 30])
    func whatARuleCanStartIsFound(backend: String, pairs: Int) throws {
        let watched = try Watched(self.lab(pairs: pairs), configuration: self.configuration(backend, Self.dialling))
        #expect(try watched.expect("requiresConnection", "dialOnDemand").interfaceNames.contains("ppp9"))
    }

    @Test(arguments: Self.backends)
    func whatIsIgnoredCostsNoPlace(backend: String) throws {
        let watched = try Watched(self.lab(pairs: 30), configuration: self.configuration(backend, Self.ignoring))
        let line = try watched.expect("unsatisfied", "noCarrier")
        #expect(line.interfaceNames == ["ppp9"])
        #expect(line.limitations.isEmpty)
    }

    @Test(arguments: Self.backends)
    func listThatIsCutSaysSoWhereItMatters(backend: String) throws {
        let lab = try self.lab(pairs: 30)
        let watched = try Watched(lab, configuration: self.configuration(backend))
        let line = try watched.expect("unsatisfied", "noAddress")
        #expect(line.interfaceNames.count == 16)
        #expect(line.limitations == ["there are more virtual interfaces without an address than are listed"])
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        let satisfied = try watched.expect("satisfied", "routed")
        #expect(satisfied.interfaceNames == ["wan0"])
        #expect(satisfied.limitations.isEmpty, "nothing that could carry the path was left out")
        _ = wan
    }

    @Test(arguments: Self.backends)
    func twoThousandInterfacesBesides(backend: String) throws {
        let lab = try NetworkNamespace()
        try lab.addInterfaces(2000, prefix: "if")
        try lab.ip("tuntap add ppp9 mode tun")
        try lab.ip("link set ppp9 up")
        let watched = try Watched(lab, configuration: self.configuration(backend, Self.dialling))
        try watched.expect("requiresConnection", "dialOnDemand", within: .seconds(60))
        try watched.expect("satisfied", "routed", within: .seconds(60)) {
            try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
        }
        try watched.expect("requiresConnection", "dialOnDemand", within: .seconds(60)) {
            try lab.removeDefaultRoute()
        }
    }

    /// Answers that name a hundred next hops do not all fit into a socket at once.
    @Test func aRouteOverAHundredInterfacesIsAnswered() throws {
        let lab = try NetworkNamespace()
        try lab.addUplink("wan0")
        let hops = (1...100).map { "nexthop via 10.1.\($0).1 dev x\($0)" }.joined(separator: " ")
        try lab.ipBatch(
            (1...100).flatMap { number in
                [
                    "link add x\(number) link wan0 up type macvlan mode bridge",
                    "address add 10.1.\(number).2/24 dev x\(number)",
                ]
            }
        )
        try lab.ip("route add default \(hops)")
        let watched = try Watched(lab, configuration: self.configuration("netlink"))
        try watched.expect("satisfied", "routed")
        try watched.expect("unsatisfied", "noRoute") { try lab.removeDefaultRoute() }
        try watched.expect("satisfied", "routed") { try lab.ip("route add default \(hops)") }
    }

    @Test func newRulesAreAskedForAtOnce() throws {
        let lab = try self.lab(pairs: 30)
        let path = try Watched.write(self.configuration("netlink"), in: lab)
        let monitor = try lab.start(Watched.program, ["watch", "--json", "--config", path])
        try monitor.next { $0.reason == "noAddress" }
        try self.configuration("netlink", Self.dialling).write(toFile: path, atomically: true, encoding: .utf8)
        try monitor.next { $0.reason == "dialOnDemand" }
    }
}

extension JSONLine {
    /// What limited the first backend.
    fileprivate var limitations: [String] { self["backends"]?[0]?["limitations"]?.elements.compactMap(\.string) ?? [] }
}
