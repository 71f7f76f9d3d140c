// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathNetlink
import NetPathSysfs

extension PathCoordinator {
    /// Makes the monitor that applications get: what the embedded default configuration describes, from code.
    ///
    /// Reads no file, and links no reader for one. Nothing runs before it is started.
    package static func standard(
        settings: CoordinatorSettings = CoordinatorSettings(),
        on executor: BackgroundExecutor
    ) -> PathCoordinator {
        PathCoordinator(
            backends: [
                Backend("netlink", monitor: NetlinkMonitor()),
                Backend("sysfs", mode: .standby, monitor: SysfsMonitor()),
            ],
            settings: settings,
            clock: executor,
            executor: executor
        )
    }
}
