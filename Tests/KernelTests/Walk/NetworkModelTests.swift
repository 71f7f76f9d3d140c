// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

/// The model itself, where what the kernel does is known from elsewhere (`KernelTests`).
@Suite struct NetworkModelTests {
    private typealias Model = NetworkModel

    /// An uplink `wanN` that is up and plugged in, with an address and a default route of each family.
    private static func addUplink(_ model: inout Model, metric: Int) {
        model.add(.uplink, name: "wan\(model.interfaces.count)", isUp: true, isPlugged: true)
        let id = model.lastID
        for family in Model.Family.allCases {
            let address = Model.Address(family: family, text: "address \(id)", gateway: "gateway \(id)")
            model.add(address, to: id)
            model.routes.append(self.route(family, [id], metric: metric))
        }
    }

    private static func route(_ family: Model.Family, _ interfaces: [Int], metric: Int = 100) -> Model.Route {
        Model.Route(
            family: family,
            table: Model.mainTable,
            destination: .everything,
            metric: metric,
            target: .nextHops(interfaces.map { Model.Leg(interface: $0, gateway: nil) })
        )
    }

    private static var twoUplinks: Model {
        var model = Model()
        self.addUplink(&model, metric: 100)
        self.addUplink(&model, metric: 600)
        return model
    }

    @Test func lowestMetricCarriesThePath() {
        #expect(
            Self.twoUplinks.verdict
                == ExpectedVerdict(
                    status: "satisfied",
                    reason: "routed",
                    hasIPv4: true,
                    hasIPv6: true,
                    egress: ["wan0"]
                )
        )
        #expect(Model().verdict == ExpectedVerdict(status: "unsatisfied", reason: "noInterface"))
    }

    /// Which of two interfaces carried the path before decides which family is closer, and a model of the present cannot know.
    @Test(arguments: [false, true]) func aRouteThatRefusesIsCloserThanWhatNeverCarriedThePath(canSendBoth: Bool) {
        var model = Self.twoUplinks
        var refusal = Self.route(.ipv6, [])
        refusal.target = .rejection(.prohibit)
        model.routes = [refusal]
        if !canSendBoth {
            for (id, family) in [(1, Model.Family.ipv4), (2, .ipv6)] {
                model.remove(Model.Address(family: family, text: "address \(id)", gateway: "gateway \(id)"), from: id)
            }
        }
        func said(_ reason: String) -> ExpectedVerdict { ExpectedVerdict(status: "unsatisfied", reason: reason) }
        #expect(model.verdict == said("noRoute"))
        #expect(model.allows(said("routeRejects")) == !canSendBoth)
        #expect(!model.allows(said("noCarrier")))
    }

    @Test func unpluggedInterfaceKeepsItsRouteUnlessToldOtherwise() {
        var model = Self.twoUplinks
        model.setPlugged(1, false)
        #expect(model.verdict.reason == "noCarrier")
        model.ignoresRoutesWithoutCarrier = true
        #expect(model.verdict.egress == ["wan1"])
    }

    @Test func interfaceThatGoesDownLosesMoreThanItGetsBack() {
        var model = Self.twoUplinks
        model.delete(2)
        model.setUp(1, false)
        #expect(model.verdict.reason == "allDown")
        #expect(model.routes.isEmpty)
        model.setUp(1, true)
        #expect(model.verdict.reason == "noRoute")
        #expect(model.interfaces[0].addresses.map(\.family) == [.ipv4])
    }

    @Test func legOfSeveralComesBackWithItsInterface() {
        var model = Self.twoUplinks
        model.routes = [Self.route(.ipv4, [1, 2])]
        #expect(model.verdict.egress == ["wan0", "wan1"])
        model.setUp(1, false)
        #expect(model.verdict.egress == ["wan1"])
        model.setUp(1, true)
        #expect(model.verdict.egress == ["wan0", "wan1"])
        model.delete(2)
        #expect(model.verdict.reason == "noRoute")
    }

    /// Of a route over two, of which one has no carrier, the kernel takes the other first.
    @Test func interfaceIsDownBeforeItGoes() {
        var model = Self.twoUplinks
        Self.addUplink(&model, metric: 700)
        model.routes = [Self.route(.ipv4, [1, 2], metric: 50), Self.route(.ipv4, [3])]
        model.setPlugged(1, false)
        var between: [String] = []
        NetworkOperation.deleteInterface(model.interfaces[1]).apply(to: &model) { between.append($0.verdict.status) }
        #expect(between == ["unsatisfied", "satisfied"])
    }

    @Test func lastAddressTakesTheRoutesAlong() throws {
        var model = Self.twoUplinks
        model.delete(2)
        model.routes.removeAll { $0.family == .ipv6 }
        let address = try #require(model.interfaces[0].addresses(of: .ipv4).first)
        model.add(Model.Address(family: .ipv4, text: "another", gateway: ""), to: 1)
        model.remove(address, from: 1)
        #expect(model.verdict.status == "satisfied")
        model.remove(Model.Address(family: .ipv4, text: "another", gateway: ""), from: 1)
        #expect(model.verdict.reason == "noRoute")
        #expect(model.routes.isEmpty)
    }

    @Test func rulesDecideBeforeTables() {
        var model = Self.twoUplinks
        model.routes.append(Self.route(.ipv4, [2]))
        model.routes[model.routes.count - 1].table = 77
        #expect(model.verdict.egress == ["wan0"])
        model.rules = [Model.Rule(family: .ipv4, priority: 100, table: 77)]
        #expect(model.verdict.egress == ["wan1", "wan0"])
        // A route that rejects is an answer even where default routes are suppressed.
        model.rules = [
            Model.Rule(family: .ipv4, priority: 100, table: Model.mainTable, suppressesDefaults: true),
            Model.Rule(family: .ipv4, priority: 200, table: 77),
        ]
        #expect(model.verdict.egress == ["wan1", "wan0"])
        model.routes[0].target = .rejection(.prohibit)
        #expect(model.answer(.ipv4, half: 0) == .rejected(.prohibit))
    }

    @Test func halfAnInternetIsNone() {
        var model = Self.twoUplinks
        model.routes = [Self.route(.ipv4, [1])]
        model.routes[0].destination = .firstHalf
        #expect(model.verdict.reason == "noRoute")
        model.routes.append(Self.route(.ipv4, [2]))
        model.routes[1].destination = .secondHalf
        #expect(model.verdict.egress == ["wan0", "wan1"])
    }

    @Test func walkIsAFunctionOfItsSeed() {
        #expect(Walk(seed: 7).description == Walk(seed: 7).description)
        #expect(Walk(seed: 7).description != Walk(seed: 8).description)
    }

    /// Walks that stay offline, or online, would test little.
    @Test func walksVisitEveryVerdict() {
        var visits: [String: Int] = [:]
        for seed in UInt64(1)...100 {
            for step in Walk(seed: seed).steps { visits[step.model.verdict.reason, default: 0] += 1 }
        }
        for reason in ["routed", "noCarrier", "noRoute", "noAddress", "routeRejects", "allDown", "noInterface"] {
            #expect(visits[reason, default: 0] >= 10, "\(reason)")
        }
        #expect(visits["routed", default: 0] >= 250)
    }
}
