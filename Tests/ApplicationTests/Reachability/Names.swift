// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem
import NetPathTestKit
import Synchronization

/// Name servers on paper.
final class Names: Sendable {
    private let table = Mutex<[String: NameLookup]>([:])
    private let count = Atomic(0)

    var lookups: Int { self.count.load(ordering: .relaxed) }
    var service: NameService {
        NameService { [self] name in
            self.count.add(1, ordering: .relaxed)
            return self.table.withLock { $0[name] ?? .failed("no such name") }
        }
    }
    func set(_ name: String, _ addresses: String...) {
        self.table.withLock { $0[name] = .addresses(addresses.map(InternetAddress.fixture)) }
    }
}
