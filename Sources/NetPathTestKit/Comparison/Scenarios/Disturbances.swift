// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

extension ScenarioTable {
    static let views = ScenarioSection(
        title: "What a backend is not shown",
        note: """
            A backend that cannot look has no verdict, which never means "no". Without a /sys of this namespace sysfs \
            says that it does without, and goes by procfs.
            """,
        rows: [
            Scenario("/sys belongs to another network namespace", .atStart, netlink: .routed) {
                try $0.lab.runOnFarSide("mount -t sysfs sysfs /sys")
            }.with(limitation: "shows another network namespace"),
            Scenario("there is no /sys", .atStart, netlink: .routed) {
                try $0.lab.run("mount -t tmpfs tmpfs /sys")
            }.with(limitation: "there is no /sys"),
            Scenario(
                "a sandbox refuses netlink sockets",
                .atStart,
                netlink: .silent,
                sysfs: .routed,
                probe: .answered,
                why: "without a socket netlink cannot ask the kernel; merged, sysfs decides in its place"
            ) { _ in }.with(launcher: .withoutNetlink, merged: .routed),
            Scenario(
                "a sandbox refuses netlink sockets, and there is no default route",
                .atStart,
                netlink: .silent,
                sysfs: .no(.noRoute),
                why: "without a socket netlink cannot ask the kernel; merged, sysfs decides in its place"
            ) { try $0.lab.removeDefaultRoute() }.with(launcher: .withoutNetlink, merged: .no(.noRoute)),
            Scenario(
                "monotonic and boot clocks are ten days ahead (time namespace)",
                .atStart,
                netlink: .routed
            ) { _ in }.with(launcher: .otherClocks),
            Scenario(
                "monotonic and boot clocks are ten days ahead, and an address is being checked",
                in: .ipv6,
                .atStart,
                netlink: .step(.configuringAddress)
            ) { try $0.replaceAddress(isChecked: true) }.with(launcher: .otherClocks),
        ]
    )

    static let disturbances = ScenarioSection(
        title: "A suspended monitor",
        note: "SIGSTOP and SIGCONT: the monitor and its plugins stand still while the world goes on.",
        rows: [
            Scenario("the default route is removed while it stands still", netlink: .no(.noRoute)) { stage in
                stage.signalMonitors(.suspend)
                try stage.lab.removeDefaultRoute()
                stage.signalMonitors(.resume)
            },
            Scenario(
                "the default route goes and comes back while it stands still",
                steady: true,
                netlink: .routed
            ) { stage in
                stage.signalMonitors(.suspend)
                try stage.lab.removeDefaultRoute()
                try stage.lab.addDefaultRoute(via: "192.0.2.1", through: stage.wan)
                stage.signalMonitors(.resume)
            },
            Scenario(
                "it stands still for longer than any of its deadlines, and nothing else happens",
                steady: true,
                netlink: .routed
            ) { stage in
                stage.signalMonitors(.suspend)
                // The passing of time is what is tested: probes time out after 1.5 s, backends are given 2 s.
                Thread.sleep(forTimeInterval: 3)
                stage.signalMonitors(.resume)
            },
            Scenario("the uplink is replaced while it stands still", netlink: .no(.noRoute)) { stage in
                stage.signalMonitors(.suspend)
                try stage.wan.delete()
                try stage.lab.addUplink("wan5", addresses: ["203.0.113.9/24"])
                stage.signalMonitors(.resume)
            },
        ]
    )
}
