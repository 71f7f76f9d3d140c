// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What to do about a reason, as data: a text for each situation that a reason is met in.
///
/// Words in braces are filled in.
enum RemedyTexts {
    /// What tells the remedies for one reason apart.
    enum Situation: Hashable {
        case usual
        // What the interface is.
        case wired, virtualEthernet, group, tunnelDevice, tunnel, bridge, routingDomain
        // What is wrong with it.
        case lowerInterface, peer, wrongKey, session, unwatchedMember, fewerLinks, addressInUse, addressCheck, source,
            wayOfTunnel, loseNextHops, doubtfulTunnel, nameServers
        // What the administrator may have intended.
        case alternative, killSwitch, discarding, policy
        // What is known of the portal.
        case portalAddress
    }

    private static let wrongKey = """
        Correct the key of the network that {name} tries: `nmcli --ask device wifi connect SSID`, or `psk` in the \
        configuration of wpa_supplicant
        """

    private static let texts: [PathReason.Code: [Situation: String]] = [
        .routed: [
            .loseNextHops: """
            Let the kernel skip next hops without a link, so that the others take all {family} packets: {passOver}{again}
            """,
            .doubtfulTunnel: """
            Say where the packets of {name} itself go, so that the kernel can be asked: put `tunnelEndpoint: [ADDRESS]` \
            into a rule about {name} in the configuration
            """,
            .nameServers: """
            Programs that look names up need a name server that can be reached: `resolvectl dns {word} ADDRESS`, or a \
            line `nameserver ADDRESS` in /etc/resolv.conf
            """,
        ],
        .authenticating: [
            .usual: "Wait for the authentication of {name}; its supplicant knows more: `wpa_cli -i {word} status`",
            .wrongKey: wrongKey,
        ],
        .configuringAddress: [
            .usual: "Wait for the {awaited} of {name}; if none comes, look at the DHCP client's log",
            .session: "Wait for the PPPoE session over {name}; if none comes, look at the log of pppd",
            .addressCheck: "Wait until the check is over: `ip address show dev {word} tentative` lists what is checked",
        ],
        .wifiNotAssociated: [
            .usual: """
            Connect {name} to a Wi-Fi network: `nmcli device wifi connect SSID` or `iwctl station {word} connect SSID`
            """,
            .wrongKey: wrongKey,
        ],
        .modemNotConnected: [
            .usual: "Connect the modem of {name}: `mmcli --modem=any --simple-connect=\"apn=APN\"`"
        ],
        .dialOnDemand: [
            .usual: "Send something to connect {name}; if it stays down, look at what should dial"
        ],
        .routeRejects: [
            .killSwitch: "If it is the kill switch of a VPN, connect {vpn}",
            .usual: """
            Otherwise find the route or rule, and remove it if it is not needed: \
            `{ip} route show table all {routes}` and `{ip} rule` list them
            """,
            .discarding: """
            If something takes the packets off {name}, such as traffic control or a firewall, say so: put `uplink: true` \
            into a rule about {name} in the configuration
            """,
            .policy: """
            Look at the policies of IPsec and at the log of the program that made them: `ip xfrm policy` and \
            `ip xfrm state` list what there is
            """,
            .wayOfTunnel: "Find the route that refuses packets to {address}: `{ip} route get {address}`",
        ],
        .ignoredInterface: [
            .usual: "Route through another interface, or take `{key}` from the rule about {name} in the configuration"
        ],
        .noCarrier: [
            .usual: "Restore the link of {name}",
            .wired: "Plug the cable into {name}, or switch on what is at its other end",
            .virtualEthernet: "Bring the other end of {name} up",
            .group: "Give {name} a member with a link: `ip link show master {word}` lists those it has",
            .unwatchedMember: """
            Plug the cable into {member}, and let {name} change to another member by itself: \
            `ip link set {word} type bond miimon 100`
            """,
            .fewerLinks: """
            Give {name} at least {count} members with a link, or let it need fewer (`min_links`): \
            `ip link show master {word}` lists those it has
            """,
            .tunnelDevice: "Start the program that {name} leads to",
            .alternative: """
            Let the kernel skip routes without a link, so that {name} takes over: {passOver}
            """,
        ],
        .probeFailed: [
            .usual: "Check that the targets are right and not blocked by a firewall, then look at the route to them"
        ],
        .captivePortal: [
            .usual:
                "Sign in to the network: open a page of plain HTTP in a browser, and the portal answers in its place",
            .portalAddress: "Sign in to the network: open {address} in a browser",
        ],
        .gatewaySilent: [
            .usual: """
            Check whether the router {address} is switched on, and whether {name} is connected to its network{cables}: \
            `ip neighbour show dev {word}` lists who answers
            """
        ],
        .noRoute: [
            .usual: "Add a default route: `{ip} route add default via GATEWAY dev {word}`",
            // Neither is an uplink by itself, and a route into it would only look like a path.
            .tunnel: """
            If {name} is meant to carry everything, add a default route: `{ip} route add default dev {word}`
            """,
            .bridge: """
            Add an uplink; or, if {name} leads to one, a default route: \
            `{ip} route add default via GATEWAY dev {word}`
            """,
            .wayOfTunnel: """
            Add a route to {address}, the far end of {name}: `{ip} route add {address} via GATEWAY dev INTERFACE`
            """,
        ],
        .noAddress: [
            .usual: "Give {name} an address: start a DHCP client, or `ip address add ADDRESS/PREFIX dev {word}`",
            .addressInUse: "Give {name} an address that no other host uses: `ip address add ADDRESS/PREFIX dev {word}`",
            .routingDomain: """
            Run programs in the VRF: `ip vrf exec {word} COMMAND`; those outside of it do not see its routes
            """,
            .source: """
            Give {name} a usable {family} address, to send from: `ip address add ADDRESS/PREFIX dev {word}`
            """,
        ],
        .radioBlocked: [
            .usual: "Unblock the radio of {name}: `rfkill unblock {radio}`, then `ip link set {word} up`"
        ],
        .interfaceDown: [
            .usual: "Bring {name} up: `ip link set {word} up`",
            .lowerInterface: "Bring {name}, below {upper}, up: `ip link set {word} up`",
            .peer: "Bring {name}, the other end of {upper}, up: `ip link set {word} up`",
        ],
        .noInterface: [
            .usual: "Add a network interface or load its driver; `ip link` lists what the kernel has",
            .tunnel: "Connect an interface that can carry {name}, or take the tunnel down",
        ],
    ]

    /// Finds the text for a reason, and fills it in.
    ///
    /// - Parameters:
    ///   - code: The reason.
    ///   - situation: What tells its texts apart.
    ///   - name: The interface it is about: for `{name}`, and quoted for a shell for `{word}`.
    ///   - words: What else is filled in.
    /// - Returns: The text; nil where there is no remedy for the reason.
    static func text(
        _ code: PathReason.Code,
        _ situation: Situation = .usual,
        about name: String = "",
        _ words: [String: String] = [:]
    ) -> String? {
        guard let text = Self.texts[code]?[situation] else { return nil }
        // Once from the front to the back: the kernel allows braces in names.
        let parts = text.split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { result, part in
            let (key, rest) = (part.prefix { $0 != "}" }, part.drop { $0 != "}" }.dropFirst())
            switch key {
            case "name": result += name
            case "word": result += shellWord(name)
            default: result += words[String(key)] ?? ""
            }
            result += rest
        }
    }
}

/// Quotes a word for a POSIX shell: the kernel allows nearly every character in the name of an interface.
func shellWord(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy({ $0.isPlain || ".@+".utf8.contains($0) }) { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
