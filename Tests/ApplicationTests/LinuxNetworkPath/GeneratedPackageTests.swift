// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

extension ConsumerPackageTests {
    /// What `netpath plugin new` writes builds and passes its tests as it is.
    struct GeneratedPackageTests {
        @Test func aNewBackendPassesItsTests() throws {
            let folder = try TemporaryDirectory()
            let netpath = try MonitorProcess.builtProduct("netpath")
            _ = try ConsumerPackage.execute([
                "env", "-C", folder["."], netpath, "plugin", "new", "door-watch", "--netpath",
                ConsumerPackage.root.path,
            ])
            // A folder of its own: `swift test` looks for tests in an index, and what is built in CI has none.
            let scratch = ConsumerPackage.scratch("generated").path
            let test = ConsumerPackage.swift("test", at: folder["door-watch"], scratch: scratch, "debug")
            let output = try ConsumerPackage.execute(test)
            #expect(output.contains("3 tests"), "\(output.suffix(2_000))")
            // The program is netpath with one type more.
            let answer = try ConsumerPackage.execute([
                "\(scratch)/debug/door-watch", "config", "check", "\(folder["door-watch"])/netpath.yaml",
            ])
            #expect(answer.contains(": ok"), "\(answer)")
        }
    }
}
