// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathNetlink

extension BackendRegistry {
    /// The backends that come with netpath.
    public static var builtIn: BackendRegistry {
        var registry = BackendRegistry()
        NetlinkMonitor.register(in: &registry)
        return registry
    }
}
