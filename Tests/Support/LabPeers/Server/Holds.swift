// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import Synchronization

/// Answers that are held until another request releases them; a release that comes first holds for the next one.
final class Holds: Sendable {
    private struct Hold {
        var input: Int32
        var output: Int32
    }

    private let holds = Mutex<[String: Hold]>([:])

    /// Blocks until it is released; false when the system grants no pipe.
    func wait(for id: String) -> Bool {
        guard let hold = self.hold(id) else { return false }
        var byte: UInt8 = 0
        return unsafe read(hold.output, &byte, 1) == 1
    }

    /// Releases one.
    func release(_ id: String) {
        guard let hold = self.hold(id) else { return }
        var byte: UInt8 = 0
        _ = unsafe write(hold.input, &byte, 1)
    }

    /// Whether it was released, and no answer has taken that.
    func isReleased(_ id: String) -> Bool {
        guard let hold = self.hold(id) else { return false }
        var question = pollfd(fd: hold.output, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&question, 1, 0) == 1
    }

    private func hold(_ id: String) -> Hold? {
        self.holds.withLock { holds in
            if let hold = holds[id] { return hold }
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { return nil }
            let hold = Hold(input: ends[1], output: ends[0])
            holds[id] = hold
            return hold
        }
    }
}
