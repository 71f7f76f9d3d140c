// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

@testable import NetPathSysfs

/// Texts as the kernel writes them (6.18, `/proc/thread-self/net`).
enum ProcTexts {
    /// A pad of spaces to 128 columns follows every line of `route`; it does not matter here.
    static let route = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        v0\t00000000\t010200C0\t0003\t0\t0\t0\t000000FF\t0\t0\t0
        v0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0
        v0\t00000000\t090200C0\t0003\t0\t0\t50\t00000000\t0\t0\t0
        v0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
        *\t00000000\t00000000\t0201\t0\t0\t900\t00000000\t0\t0\t0
        *\t00000000\t00000000\t0001\t0\t0\t1000\t00000000\t0\t0\t0
        v0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0

        """

    private static let none = String(repeating: "0", count: 32)
    /// The line that stands for a table without a default route.
    static let null = line(none, 0, gateway: none, metric: 0xFFFF_FFFF, flags: 0x0020_0200, "lo")

    static func line(
        _ destination: String,
        _ length: Int,
        gateway: String = none,
        metric: UInt32,
        flags: UInt32,
        _ name: String
    ) -> String {
        func hex(_ number: some BinaryInteger, _ width: Int) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        return "\(destination) \(hex(length, 2)) \(none) 00 \(gateway) \(hex(metric, 8)) 00000001 00000000 "
            + "\(hex(flags, 8)) \(String(repeating: " ", count: 8 - name.count))\(name)\n"
    }

    static func padded(_ digits: String) -> String {
        digits + String(repeating: "0", count: 32 - digits.count)
    }

    static let gateway = "20010db8000000000000000000000001"
    /// The local table, which comes last.
    static let local =
        line("00000000000000000000000000000001", 128, metric: 0, flags: 0x8020_0001, "lo")
        + line(padded("ff"), 8, metric: 256, flags: 1, "v0") + null
    /// The main table with its default routes at the end.
    static let main =
        line(padded("20010db8"), 64, metric: 256, flags: 1, "v0") + line(padded("fe8"), 64, metric: 256, flags: 1, "v0")
        + line(none, 0, gateway: gateway, metric: 500, flags: 3, "v0")
        + line(none, 0, gateway: gateway, metric: 700, flags: 3, "v1")
    /// A VPN's table.
    static let other = line(none, 0, metric: 1024, flags: 1, "wg0")

    static let ifInet6 = """
        00000000000000000000000000000001 01 80 10 80       lo
        fe80000000000000082efffffe000001 03 40 20 80       v0
        20010db8000000000000000000000002 03 40 00 08       v0
        20010db8000000000000000000000003 03 40 00 40       v0

        """

    static let dev = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
            lo: 1234567   12345    0    0    0     0          0         0  1234567   12345
        wlp2s0:       0       0    0    0    0     0          0         0        0       0
        longest-name-15:12       0    0    0    0     0          0         0        0       0

        """
}

/// The default reference destinations.
let internet = ReferenceRoute.defaultDestinations

func ipv4Table(_ text: String, isComplete: Bool = true) -> RouteTable? {
    let bytes = Array(text.utf8)
    return RouteTable(ipv4: bytes.span, isComplete: isComplete, covering: internet)
}

/// Reads a table of a host whose v0 has link-local addresses, and so a route to their network, or that has none.
func ipv6Table(_ text: String, isComplete: Bool = true, hasAddresses: Bool = true) -> RouteTable? {
    let bytes = Array(text.utf8)
    let isOwnNetwork = { (entry: RouteEntry) in entry.interface == "v0" && entry.destination.address.isLinkLocal }
    return RouteTable(
        ipv6: bytes.span,
        isComplete: isComplete,
        covering: internet,
        isOwnNetwork: hasAddresses ? isOwnNetwork : nil
    )
}
