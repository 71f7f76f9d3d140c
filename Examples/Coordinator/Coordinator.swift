// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A coordinator from code: it runs the backends, starts again what failed, and merges what they say into one path.
// No file is read.

import NetPath
import NetPathNetlink

func runCoordinator() async {
    let coordinator = PathCoordinator(
        backends: [Backend("netlink", monitor: NetlinkMonitor())],
        log: { level, message in print("\(level): \(message)") }
    )
    coordinator.start()

    // The current path, then the newest after each change; `paths(buffering: .unbounded)` skips none, `changes()` says
    // what differs, `subscribe` calls back without a queue.
    for await path in coordinator.paths() {
        print("\(path.status): \(path.reason.message)")
        for interface in path.interfaces { print("  \(interface.name): \(interface.reason.message)") }
    }
}
