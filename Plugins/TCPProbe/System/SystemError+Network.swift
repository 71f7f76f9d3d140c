// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

extension SystemError {
    /// This host has no route.
    static let networkUnreachable = SystemError(action: "cannot reach a target", errno: ENETUNREACH)

    /// Whether the process lacks something, which says nothing about the network.
    var isShortage: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM, EACCES].contains(self.errno) }
}
