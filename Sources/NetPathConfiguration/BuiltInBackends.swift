// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathNetlink
import NetPathSysfs

/// The C libraries that the program runs with, each with its version: `libyaml 0.2.5`.
public let linkedLibraries = [NetlinkMonitor.library, YAMLReader.library]

extension BackendRegistry {
    /// The backends that come with netpath.
    public static var builtIn: BackendRegistry {
        var registry = BackendRegistry()
        NetlinkMonitor.register(in: &registry)
        SysfsMonitor.register(in: &registry)
        return registry
    }
}
