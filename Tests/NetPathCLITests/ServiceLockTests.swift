// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit
import Testing

@testable import NetPathCLI

/// Who can hold the lock of the service.
@Suite struct ServiceLockTests {
    /// A process that could open it could hold it, and keep every service from starting.
    @Test func itIsForTheServiceAlone() throws {
        let folder = try TemporaryDirectory()
        let folders = ServiceFolders(runtime: "\(folder.path)/run", state: folder.path)
        // As former versions made it.
        _ = unsafe mkdir(folders.runtime, 0o755)
        try folder.write("run/netpath.lock", "1\n")
        _ = unsafe chmod(folders.lock, 0o644)
        let lock = try folders.takeLock()
        #expect(FileAccess.status(folders.lock).map { $0.st_mode & 0o777 } == 0o600)
        let refusal = #expect(throws: ToolFailure.self) { try folders.takeLock() }
        #expect(refusal?.message.contains("process \(getpid()) runs netpath already") == true)
        withExtendedLifetime(lock) {}
    }
}
