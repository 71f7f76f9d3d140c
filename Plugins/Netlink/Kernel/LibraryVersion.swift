// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import CNetlink

extension NetlinkMonitor {
    /// The C library it runs with and the version of that, not of the headers: `libnl 3.7.0`.
    public static var library: String { "libnl \(nl_ver_maj).\(nl_ver_min).\(nl_ver_mic)" }
}
