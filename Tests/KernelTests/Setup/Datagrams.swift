// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// Which families an ordinary program reaches the internet in.
struct Datagrams: Equatable, CustomStringConvertible {
    let ipv4: Bool
    let ipv6: Bool

    var description: String {
        switch (self.ipv4, self.ipv6) {
        case (true, true): "IPv4 and IPv6 datagrams come back"
        case (true, false): "only IPv4 datagrams come back"
        case (false, true): "only IPv6 datagrams come back"
        case (false, false): "no datagram comes back"
        }
    }
}

extension Datagrams {
    /// What a monitor's path promises.
    init(said path: JSONLine) {
        let isSatisfied = path["status"] == "satisfied"
        self.init(
            ipv4: isSatisfied && path["supportsIPv4"] == true,
            ipv6: isSatisfied && path["supportsIPv6"] == true
        )
    }
}

extension NetworkNamespace {
    /// Sends UDP datagrams to far addresses, from sockets that are neither bound nor marked.
    ///
    /// The internet of a family is two halves, as VPN clients see it, and each is reached when an address of it answers.
    ///
    /// - Parameters:
    ///   - bound: How long to wait where they do not come back; neighbours may have to be found.
    ///   - count: How many addresses of each half to ask: a route over several gateways loses some while one is dead.
    /// - Returns: What came back.
    /// - Throws: `LabError` when nothing could be sent.
    func sendDatagrams(waiting bound: Duration, addresses count: Int) throws -> Datagrams {
        let halves = ["9.0.0.", "193.0.0.", "2600::", "3000::"]
        let groups = (0..<count).map { number in halves.map { "\($0)\(number + 20)" } }
        let answered = try self.answers(from: groups, within: bound, refusals: 3)
        let reached = halves.map { half in answered.contains { $0.hasPrefix(half) } }
        return Datagrams(ipv4: reached[0] && reached[1], ipv6: reached[2] && reached[3])
    }
}
