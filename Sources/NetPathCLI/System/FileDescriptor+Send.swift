// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

extension FileDescriptor {
    /// Sends through a socket what goes at once, without a signal where the other end is gone (`send(2)`).
    ///
    /// - Returns: How many bytes went; -1 on an error, errno tells which.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(self.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
}
