// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathExec
import NetPathHTTPProbe
import NetPathNetlink
import NetPathSysfs
import NetPathTCPProbe

/// The C libraries that the program runs with, each with its version: `libyaml 0.2.5`.
package let linkedLibraries = [NetlinkMonitor.library, YAMLReader.library]

extension BackendRegistry {
    /// The backends that come with netpath.
    public static var builtIn: BackendRegistry {
        var registry = BackendRegistry()
        NetlinkMonitor.register(in: &registry)
        SysfsMonitor.register(in: &registry)
        TCPProbeMonitor.register(in: &registry)
        // Without libcurl, so that a program pays for requests only where it sends some.
        HTTPProbeMonitor.register(in: &registry, runBy: "netpath-http")
        ExecMonitor.register(in: &registry)
        return registry
    }
}
