// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit

extension Evidence {
    /// A path through an interface of that name.
    static func through(_ name: String) -> Evidence {
        .online(.wired(name, 2).with("192.0.2.7/24"))
    }
}

extension PathCoordinator {
    /// Creates a coordinator of backends called a, b, c….
    convenience init(
        _ monitors: ScriptedMonitor...,
        clock: ManualClock = ManualClock(),
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) {
        let backends = zip(["a", "b", "c", "d"], monitors).map { Backend($0, monitor: $1) }
        self.init(backends: backends, clock: clock, log: log)
    }

    /// The names of the interfaces of the current path.
    var interfaceNames: [String]? { self.path?.interfaces.map(\.name) }
}
