// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPathCLI

struct ServiceMemoryTrustTests {
    @Test func aFolderThatIsEmptyOrRelativeCountsAsNotSet() {
        let runtime = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        let usual = ServiceFolders.user(runtime.merging(["HOME": "/home/ada"]) { $1 })
        #expect(usual?.state == "/home/ada/.local/state/netpath")
        for wrong in ["", "relative"] {
            #expect(ServiceFolders.user(runtime.merging(["HOME": wrong]) { $1 }) == nil, "\(wrong)")
            let both = ServiceFolders.user(runtime.merging(["HOME": "/home/ada", "XDG_STATE_HOME": wrong]) { $1 })
            #expect(both == usual, "\(wrong)")
        }
    }

    @Test func anotherUsersServiceIsNotBelieved() {
        let mine = ServiceFolders(runtime: "/run/user/1000/netpath", state: "/home/ada/.local/state/netpath")
        #expect(ServiceMemory.isTrusted(1_000, at: mine, asking: 1_000))
        #expect(ServiceMemory.isTrusted(0, at: mine, asking: 1_000))
        #expect(!ServiceMemory.isTrusted(1_000, at: mine, asking: 0))
        #expect(!ServiceMemory.isTrusted(1_001, at: mine, asking: 1_000))
        // The service of the system has a user of its own.
        #expect(ServiceMemory.isTrusted(998, at: .system, asking: 1_000))
    }
}
