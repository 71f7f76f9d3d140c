// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// Reads everything this backend looks at, once.
///
/// The interfaces are those of the process's own network namespace, which the requests of `netdevice(7)` and procfs
/// show. sysfs shows the namespace of its mounting process, so what it says is believed only where names and indices
/// agree. Any of them can be gone between two reads.
final class NetworkReader {
    private let options: SysfsMonitor.Options
    private let interfaces: InterfaceReader
    private let queries: any InterfaceQuerying
    private let files = FileReader()

    init(options: SysfsMonitor.Options, queries: any InterfaceQuerying, clock: any MonotonicClock) {
        self.options = options
        self.queries = queries
        self.interfaces = InterfaceReader(sysfs: options.sysfs, queries: queries, clock: clock)
    }

    /// The room for lists that have a line for each interface or address: more than 20,000 of them.
    private static let listLimit = 4 << 20
    /// How much is read of the IPv4 routes: 128 of them, and the default routes come first.
    private static let ipv4RouteLimit = 16_384
    /// How much is read of the IPv6 routes, of which the default routes come last.
    ///
    /// A line has 150 bytes: that is 870 lines, and those that every interface brings along. An amount and not a
    /// time, so that the same table is always read or never.
    private static let ipv6RouteLimit = (anyway: 1 << 17, perInterface: 1024)
    private static let resolverLimit = 65_536

    /// Reads everything.
    ///
    /// - Throws: ``SysfsError`` when neither the interfaces nor the routes of this namespace can be read.
    func read() throws(SysfsError) -> NetworkReading {
        var reading = NetworkReading()
        let network = Directory(self.options.procfs)
        let names = network.flatMap { directory in
            self.files.read("dev", in: directory, limit: Self.listLimit, DeviceList.parse).value ?? nil
        }
        let found = self.interfaces.read(names: names)
        guard names != nil || !found.interfaces.isEmpty else {
            throw self.blindness()
        }
        reading.interfaces = found.interfaces
        reading.limitations = found.limitations
        if let network {
            self.readAddresses(network, into: &reading)
            self.readRoutes(network, into: &reading)
            if reading.interfaces.contains(where: { $0.nature.kind == "ppp" }) {
                let sessions = self.files.value("pppoe", in: network, limit: Self.listLimit, Self.text)
                reading.sessions = PPPoESessions(parsing: sessions ?? "")
            }
        } else {
            reading.limitations.append("there is no \(self.options.procfs); addresses and routes are unknown")
        }
        let resolver = ResolverConfiguration(path: self.options.resolvConf, runtime: self.options.runtime) { path in
            self.files.value(path, limit: Self.resolverLimit, Self.text)
        }
        reading.dnsServers = resolver.servers
        return reading
    }

    private static func text(_ bytes: Span<UInt8>) -> String? { bytes.string(0..<bytes.count) }

    private func blindness() -> SysfsError {
        let list = "\(self.options.procfs)/dev"
        // Once more, to learn why.
        let outcome = self.files.read(list, limit: FileReader.attributeLimit) { _, _ in }
        let number = if case .failed(let number) = outcome { number } else { Int32(0) }
        return SysfsError("neither \(list) nor \(self.options.sysfs)/class/net can be read", number: number)
    }

    // MARK: Addresses

    private func readAddresses(_ network: Directory, into reading: inout NetworkReading) {
        let indices = Dictionary(
            reading.interfaces.map { ($0.name, $0.index) },
            uniquingKeysWith: { first, _ in first }
        )
        reading.addresses[.ipv4] = self.queries.ipv4Addresses().map { list in
            var addresses: [UInt32: [InterfaceAddress]] = [:]
            for (label, bits) in list {
                // The label of a further address is the interface's name, or that and a colon.
                let name = String(label.prefix { $0 != ":" })
                guard let index = indices[name], let mask = self.queries.ipv4Mask(label: label, address: bits) else {
                    continue
                }
                let address = InternetAddress(ipv4: bits)
                addresses[index, default: []].append(
                    InterfaceAddress(
                        AddressPrefix(address, length: mask.leadingOnes),
                        // The kernel does not show the scope here; these are what DHCP clients choose.
                        scope: address.isLoopback ? .host : address.isLinkLocal ? .link : .global
                    )
                )
            }
            return addresses
        }
        switch self.files.read("if_inet6", in: network, limit: Self.listLimit, IPv6Line.parse) {
        case .missing: reading.addresses[.ipv6] = [:]
        case .read(let lines?):
            reading.addresses[.ipv6] = Dictionary(grouping: lines, by: \.interfaceIndex).mapValues { $0.map(\.address) }
            for line in lines where line.isDynamic && line.address.isGlobal {
                reading.dynamicAddresses[line.interfaceIndex, default: []].insert(line.address.prefix)
            }
        case .read(nil), .failed:
            reading.limitations.append("\(self.options.procfs)/if_inet6 cannot be read; IPv6 addresses are unknown")
        }
    }

    // MARK: Routes

    private func readRoutes(_ network: Directory, into reading: inout NetworkReading) {
        let destinations = self.options.referenceDestinations
        reading.routes[.ipv4] =
            self.files.read("route", in: network, limit: Self.ipv4RouteLimit) { text, isComplete in
                RouteTable(ipv4: text, isComplete: isComplete, covering: destinations)
            }.value ?? nil
        if reading.routes[.ipv4] == nil {
            reading.limitations.append("\(self.options.procfs)/route cannot be read; IPv4 routes are unknown")
        }
        let limit = Self.ipv6RouteLimit.anyway + Self.ipv6RouteLimit.perInterface * reading.interfaces.count
        let isOwnNetwork = reading.recognizesOwnNetworks
        let ipv6 = self.files.read("ipv6_route", in: network, limit: limit) {
            RouteTable(ipv6: $0, isComplete: $1, covering: destinations, isOwnNetwork: isOwnNetwork)
        }
        switch ipv6 {
        case .read(let table?): reading.routes[.ipv6] = table
        // A kernel without IPv6 has neither file.
        case .missing where reading.routes[.ipv4] != nil && reading.addresses[.ipv6]?.isEmpty == true:
            reading.routes[.ipv6] = RouteTable()
        case .missing, .failed, .read(nil):
            reading.limitations.append(
                "\(self.options.procfs)/ipv6_route is too long, does not show which table is the main one, or cannot be "
                    + "read; IPv6 routes are unknown"
            )
        }
        self.readSettings(into: &reading)
        self.askWhatRefuses(into: &reading)
    }

    /// Asks what becomes of packets whose route refuses them: procfs shows a throw, after which other tables are asked,
    /// as it shows a blackhole.
    private func askWhatRefuses(into reading: inout NetworkReading) {
        guard reading.routes.values.contains(where: { $0.entries.contains(where: \.isRefusal) }) else { return }
        let choice = RouteChoice(reading)
        for destination in self.options.referenceDestinations where choice.isRefused(destination) {
            reading.refusals[destination] = self.queries.refusal(of: destination)
        }
    }

    private func readSettings(into reading: inout NetworkReading) {
        let deaf = Set(reading.interfaces.filter { $0.isUp && $0.hasCarrier == false }.map(\.name))
        for family in AddressFamily.allCases {
            let names = Set((reading.routes[family]?.entries ?? []).compactMap(\.interface)).intersection(deaf)
            reading.ignoredWithoutCarrier[family] = names.filter { name in
                // IPv6 copies the word for all interfaces to each of them.
                (family == .ipv4 ? [name, "all"] : [name]).contains { scope in
                    let path = "\(self.options.settings)/\(family.rawValue)/conf/\(scope)/ignore_routes_with_linkdown"
                    return self.files.value(path, Attribute.number) ?? 0 != 0
                }
            }
        }
    }
}
