// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathNetlink
import NetPathSysfs

extension PathCoordinator {
    /// Makes the coordinator that applications share: netlink, with sysfs standing by.
    ///
    /// What the embedded default configuration describes, from code: no file is read. Nothing runs before it is started.
    /// It runs on a thread of its own that ends when there is nothing to do.
    ///
    /// - Parameters:
    ///   - settings: What becomes of what the backends say.
    ///   - log: Receives messages for the operator, on any thread.
    /// - Returns: The coordinator.
    public static func standard(
        settings: CoordinatorSettings = CoordinatorSettings(),
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) -> PathCoordinator {
        self.standard(settings: settings, on: BackgroundExecutor(), log: log)
    }

    /// Makes the same on an executor that others use too.
    package static func standard(
        settings: CoordinatorSettings = CoordinatorSettings(),
        on executor: BackgroundExecutor,
        log: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) -> PathCoordinator {
        PathCoordinator(
            backends: [
                Backend("netlink", monitor: NetlinkMonitor()),
                Backend("sysfs", mode: .standby, monitor: SysfsMonitor()),
            ],
            settings: settings,
            clock: executor,
            executor: executor,
            log: log
        )
    }
}
