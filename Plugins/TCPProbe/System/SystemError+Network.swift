// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

extension SystemError {
    /// This host has no route.
    static let networkUnreachable = Self.unreachable(ENETUNREACH)
    /// A router or a neighbour says that there is no way.
    static let hostUnreachable = Self.unreachable(EHOSTUNREACH)
    /// There is no such interface.
    static let noDevice = Self.unreachable(ENODEV)

    private static func unreachable(_ number: Int32) -> SystemError {
        SystemError(action: "cannot reach a target", errno: number)
    }

    /// Whether the process lacks something, which says nothing about the network.
    var isShortage: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM, EACCES].contains(self.errno) }
}
