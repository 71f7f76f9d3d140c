// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension NetworkNamespace {
    /// An address family.
    public enum Family: String, Sendable, CaseIterable {
        /// IPv4.
        case ipv4 = "-4"
        /// IPv6.
        case ipv6 = "-6"
    }

    /// Adds a default route.
    ///
    /// - Parameters:
    ///   - gateway: The gateway; nil for a device that needs none. An IPv6 gateway makes an IPv6 route, unless
    ///     `family` says otherwise (an IPv4 route with an IPv6 gateway, RTA_VIA).
    ///   - interface: The interface the route leads out of.
    ///   - metric: The metric; nil for the kernel's default.
    ///   - family: The family of the route; nil for the gateway's, or IPv4 without a gateway.
    ///   - options: More words for `ip route add`, for example `table 51820` or `proto ra expires 3`.
    /// - Throws: ``LabError`` when `ip` fails.
    public func addDefaultRoute(
        via gateway: String? = nil,
        through interface: LabInterface,
        metric: Int? = nil,
        family: Family? = nil,
        options: String = ""
    ) throws {
        let gatewayFamily: Family = gateway?.contains(":") == true ? .ipv6 : .ipv4
        let family = family ?? gatewayFamily
        let via =
            switch gateway {
            case nil: ""
            case let gateway? where family == gatewayFamily: "via \(gateway)"
            case let gateway?: "via inet6 \(gateway)"
            }
        let metricOption = metric.map { "metric \($0)" } ?? ""
        // The family must be named: `default via inet6` alone would make an IPv6 route.
        try ip("\(family.rawValue) route add default \(via) dev \(interface.name) \(metricOption) \(options)")
    }

    /// Removes a default route of the main table.
    ///
    /// - Parameters:
    ///   - interface: The interface of the route; nil for the first found.
    ///   - family: The route's family.
    /// - Throws: ``LabError`` when there is none.
    public func removeDefaultRoute(through interface: LabInterface? = nil, family: Family = .ipv4) throws {
        try ip("\(family.rawValue) route del default \(interface.map { "dev \($0.name)" } ?? "")")
    }

    /// Sends all of IPv4 into a tunnel with the rules `wg-quick` uses: the tunnel's own packets carry a mark.
    ///
    /// The rules are: the main table without its default routes first, then for unmarked packets the tunnel's table.
    ///
    /// - Parameters:
    ///   - tunnel: The tunnel device.
    ///   - table: The tunnel's table, also the mark.
    /// - Throws: ``LabError`` when `ip` fails.
    package func routeEverything(into tunnel: LabInterface, table: Int = 51_820) throws {
        try addDefaultRoute(through: tunnel, options: "table \(table)")
        try ip("rule add not fwmark \(table) table \(table)")
        try ip("rule add table main suppress_prefixlength 0")
    }

    /// Adds very many host routes that say nothing about the internet: addresses of 10.0.0.0/8, counted upwards.
    ///
    /// - Parameters:
    ///   - count: How many, at most 16 million.
    ///   - interface: The interface they lead out of, which must be up.
    ///   - verb: What `ip route` does with them: `del` takes them away again.
    ///   - timeout: The time for all of them.
    /// - Throws: ``LabError`` when `ip` fails.
    package func addUnrelatedRoutes(
        _ count: Int,
        through interface: LabInterface,
        verb: String = "add",
        timeout: Duration = .seconds(120)
    ) throws {
        try ipBatch(
            (0..<count).lazy.map {
                "route \(verb) 10.\($0 >> 16 & 255).\($0 >> 8 & 255).\($0 & 255)/32 dev \(interface.name)"
            },
            timeout: timeout
        )
    }
}
