// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

extension ServiceFolders {
    /// Takes what only one service at a time holds, and makes the folder that it lies in.
    ///
    /// - Throws: ``ToolFailure`` that names who holds it, or `SystemError`.
    func takeLock() throws -> ProcessLock {
        guard unsafe mkdir(self.runtime, 0o755) == 0 || errno == EEXIST else {
            throw SystemError.last("cannot make the folder \(self.runtime)")
        }
        do {
            return try ProcessLock(self.lock) { holder in
                """
                \(holder) runs netpath already for \(self.runtime): 'netpath status --service' asks it, and \
                'systemctl restart netpath' restarts it
                """
            }
        } catch {
            if error.isHeldElsewhere { throw ToolFailure(.failure, error.action) }
            throw error
        }
    }
}
