// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathNetlink

// How long a program that uses the library waits for its first path: prints microseconds, one line per coordinator.
let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 10
for _ in 0..<rounds {
    let start = ContinuousClock.now
    let coordinator = PathCoordinator(backends: [Backend("netlink", monitor: NetlinkMonitor())])
    coordinator.start()
    for await path in coordinator.paths() {
        let duration = ContinuousClock.now - start
        precondition(path.status == .satisfied, "the benchmark gives a default route")
        print(duration / .microseconds(1))
        break
    }
    coordinator.stop()
}
