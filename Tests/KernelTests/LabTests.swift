// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// The lab itself, tested with programs every system has.
@Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
struct LabTests {
    @Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired))
    struct Commands {
        @Test func outputIsReturnedAsWritten() throws {
            let lab = try NetworkNamespace()
            #expect(try lab.run("printf 'no newline'") == "no newline")
            #expect(try lab.run("echo 'it'\"'\"'s'; echo warning >&2") == "it's\n")
            #expect(try lab.run("true") == "")
            #expect(try lab.run("seq 100000").split(separator: "\n").count == 100_000)
            #expect(try lab.run("cat") == "", "a command must not read the shell's own input")
        }

        @Test func failureNamesCommandStatusAndReason() throws {
            let lab = try NetworkNamespace()
            let error = try #require(throws: LabError.self) { try lab.ip("link set nothing up") }
            guard case .commandFailed(let command, let status, let standardError) = error else {
                Issue.record("unexpected error: \(error)")
                return
            }
            #expect(command == "ip link set nothing up")
            #expect(status == 1)
            #expect(standardError.contains("nothing"))
            #expect(try lab.run("echo alive") == "alive\n")
        }

        @Test func syntaxErrorLeavesTheNamespaceUsable() throws {
            let lab = try NetworkNamespace()
            #expect(throws: LabError.self) { try lab.run("echo )(") }
            #expect(try lab.run("echo alive") == "alive\n")
        }

        @Test func exitIsReportedAndNothingHangs() throws {
            let lab = try NetworkNamespace()
            #expect(throws: LabError.self) { try lab.run("exit 3") }
            #expect(throws: LabError.self) { try lab.run("true") }
        }

        @Test func wedgedCommandTimesOut() throws {
            let lab = try NetworkNamespace()
            let error = try #require(throws: LabError.self) {
                try lab.run("sleep 1000", timeout: .milliseconds(100))
            }
            guard case .commandTimedOut = error else {
                Issue.record("unexpected error: \(error)")
                return
            }
            #expect(throws: LabError.self) { try lab.run("true") }
        }

        @Test func batchNamesTheFailingLine() throws {
            let lab = try NetworkNamespace()
            let error = try #require(throws: LabError.self) {
                try lab.ipBatch(["link set lo up", "link set nothing up"])
            }
            #expect("\(error)".contains(":2"))
        }
    }

    @Test func namespaceContainsOnlyLoopback() throws {
        let lab = try NetworkNamespace()
        #expect(try lab.run("ls /sys/class/net") == "lo\n")
        #expect(try lab.run("cat /sys/class/net/lo/operstate") == "unknown\n")
        #expect(try lab.ip("route") == "")
    }

    @Test func nothingIsLeftBehind() throws {
        let directory: String
        let processes: [Int32]
        do {
            let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
            try lab.addUplink("wan0")
            let monitor = try lab.start("ip", ["monitor", "link"])
            let background = try lab.run("sleep 1000 >/dev/null 2>&1 & echo $!").filter(\.isNumber)
            directory = lab.directory
            // A folder of a service's, and one that is the machine's own.
            let folders = "mkdir -p state/netpath own && touch state/netpath/lock && mount --bind /etc own"
            try lab.run("cd \(directory) && \(folders)")
            processes = [lab.processIdentifier, monitor.processIdentifier, try #require(Int32(background))]
            #expect(processes.allSatisfy(processIsRunning))
        }
        try waitUntil { !processes.contains(where: processIsRunning) }
        #expect(!FileManager.default.fileExists(atPath: directory))
        #expect(FileManager.default.fileExists(atPath: "/etc/passwd"))
    }

    @Test func endOfOneNamespaceLeavesTheOtherAlone() throws {
        let first = try NetworkNamespace()
        let second = try NetworkNamespace()
        first.close()
        #expect(throws: LabError.self) { try first.run("true") }
        #expect(try second.run("echo alive") == "alive\n")
    }

    @Test func privateResolverConfigurationCanBeReplaced() throws {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        #expect(try lab.run("cat /etc/resolv.conf") == "nameserver 192.0.2.53\n")
        try lab.run("echo nameserver 192.0.2.54 >/etc/new && mv /etc/new /etc/resolv.conf")
        #expect(try lab.run("cat /etc/resolv.conf") == "nameserver 192.0.2.54\n")
        try lab.run("echo nameserver 192.0.2.55 >/etc/other && ln -sf other /etc/resolv.conf")
        #expect(try lab.run("cat /etc/resolv.conf") == "nameserver 192.0.2.55\n")
        #expect(try lab.run("cat /etc/passwd") == String(contentsOfFile: "/etc/passwd", encoding: .utf8))
        #expect(try lab.run("cat /etc/os-release") == String(contentsOfFile: "/etc/os-release", encoding: .utf8))
        #expect(!FileManager.default.fileExists(atPath: "/etc/other"))
    }

    @Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired))
    struct Interfaces {
        @Test func uplinkFollowsItsCable() throws {
            let lab = try NetworkNamespace()
            let uplink = try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"], gateway: "192.0.2.1")
            #expect(try lab.run("ls /sys/class/net") == "lo\nwan0\n", "the other end must be out of sight")
            #expect(try carrier(uplink) == "1")
            #expect(try lab.ip("route get 1.1.1.1").contains("dev wan0 src 192.0.2.2"))
            #expect(try !lab.ip("-6 address show dev wan0").contains("tentative"))

            try uplink.setPeerCarrier(false)
            #expect(try carrier(uplink) == "0")
            try waitUntil { (try? lab.ip("route"))?.contains("linkdown") == true }
            try uplink.ignoreRoutesWithoutCarrier()
            #expect(throws: LabError.self) { try lab.ip("route get 1.1.1.1") }

            try uplink.setPeerCarrier(true)
            #expect(try carrier(uplink) == "1")
            #expect(try lab.ip("route get 1.1.1.1").contains("dev wan0"))
        }

        @Test func uplinkLeavesIsRenamedAndGoes() throws {
            let lab = try NetworkNamespace()
            let uplink = try lab.addUplink("wan0")
            let index = try uplink.index()
            try uplink.moveToFarSide()
            #expect(throws: LabError.self) { try uplink.index() }
            try uplink.moveBack()
            #expect(try uplink.index() == index)
            let renamed = try uplink.renamed(to: "wan1")
            #expect(try renamed.index() == index)
            try renamed.delete()
            #expect(try lab.run("ls /sys/class/net") == "lo\n")
            #expect(try lab.addUplink("wan2", index: index).index() == index)
        }

        @Test(.enabled(if: TunDevice.isAvailable, "/dev/net/tun cannot be opened"))
        func tunHasCarrierWhileHeldOpen() throws {
            let lab = try NetworkNamespace()
            let device = try lab.addTun("tun0", addresses: ["10.0.0.2/32"], isPersistent: true)
            #expect(try carrier(device.interface) == "1")
            try device.close()
            #expect(try carrier(device.interface) == "0")

            let other = try lab.addTun("tun1")
            #expect(try lab.run("cat /sys/class/net/tun1/operstate") == "unknown\n")
            try other.close()
            #expect(throws: LabError.self) { try other.interface.index() }
        }

        @Test func tunnelTakesEverythingButItsOwnPackets() throws {
            let lab = try NetworkNamespace()
            try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1")
            let tunnel = try lab.addTunnel("wg0", addresses: ["10.0.0.2/32"])
            #expect(try lab.run("cat /sys/class/net/wg0/operstate") == "unknown\n")
            #expect(try carrier(tunnel) == "1")
            try lab.routeEverything(into: tunnel)
            #expect(try lab.ip("route get 1.1.1.1").contains("dev wg0 table 51820 src 10.0.0.2"))
            #expect(try lab.ip("route get 1.1.1.1 mark 51820").contains("dev wan0"))
            #expect(try lab.ip("route get 192.0.2.9").contains("dev wan0"))
        }

        @Test func manyInterfacesAreMadeQuickly() throws {
            let lab = try NetworkNamespace()
            try lab.addInterfaces(500, prefix: "many")
            #expect(try lab.run("ls /sys/class/net | grep -c many") == "500\n")
            try lab.addInterfaces(10, prefix: "down", isUp: false)
            _ = try lab.addBridge("br0", ports: [lab.addUplink("wan0")])
            #expect(try lab.run("ls /sys/class/net/br0/brif") == "wan0\n")
        }

        private func carrier(_ interface: LabInterface) throws -> String {
            try interface.namespace.run("cat /sys/class/net/\(interface.name)/carrier").filter(\.isNumber)
        }
    }

    @Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired))
    struct Routes {
        @Test(arguments: [
            ("blackhole", "Invalid"), ("unreachable", "No route"), ("prohibit", "Permission"), ("throw", "unreachable"),
        ])
        func rejectingRouteAnswers(rejection: String, answer: String) throws {
            let lab = try NetworkNamespace()
            try lab.addUplink("wan0", addresses: ["192.0.2.2/24", "2001:db8::2/64"])
            for family in NetworkNamespace.Family.allCases {
                try lab.ip("\(family.rawValue) route add \(rejection) default")
                let address = family == .ipv4 ? "1.1.1.1" : "2606:4700::1"
                let error = #expect(throws: LabError.self) { try lab.ip("route get fibmatch \(address)") }
                #expect("\(error, default: "")".contains(answer))
            }
        }

        @Test func ipv4RouteHasIPv6Gateway() throws {
            let lab = try NetworkNamespace()
            let uplink = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
            try lab.addDefaultRoute(via: "fe80::1", through: uplink, family: .ipv4)
            #expect(try lab.ip("-4 route get fibmatch 1.1.1.1").hasPrefix("default via inet6 fe80::1 dev wan0"))
        }

        @Test func nextHopObjectTakesItsRouteAlong() throws {
            let lab = try NetworkNamespace()
            try lab.addUplink("wan0", addresses: ["192.0.2.2/24"])
            try lab.setParameter("net/ipv4/nexthop_compat_mode", to: 0)
            try lab.ip("nexthop add id 10 via 192.0.2.1 dev wan0")
            try lab.ip("route add default nhid 10")
            #expect(try lab.ip("route get fibmatch 1.1.1.1").hasPrefix("default nhid 10"))
            try lab.ip("nexthop del id 10")
            #expect(throws: LabError.self) { try lab.ip("route get 1.1.1.1") }
        }

        @Test func unrelatedRoutesComeAndGo() throws {
            let lab = try NetworkNamespace()
            let uplink = try lab.addUplink("wan0")
            try lab.addUnrelatedRoutes(70_000, through: uplink)
            #expect(try lab.ip("route").split(separator: "\n").count == 70_000)
            #expect(try lab.ip("route get 10.1.17.111").contains("dev wan0"))
            try lab.addUnrelatedRoutes(70_000, through: uplink, verb: "del")
            #expect(try lab.ip("route") == "")
        }
    }
}

/// Waits for something that happens soon, for what has no event to wait for.
func waitUntil(_ condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition() {
        try #require(ContinuousClock.now < deadline, "the awaited condition did not come true")
        usleep(2_000)
    }
}

/// Whether a process exists and has not ended.
func processIsRunning(_ processIdentifier: Int32) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8) else {
        return false
    }
    return !status.contains("State:\tZ")
}
