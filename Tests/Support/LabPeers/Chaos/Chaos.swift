// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath
import NetPathCLI

/// Runs netpath with backends that can be broken from outside.
///
/// The real ones do the real work, and what they say passes a gate each. Commands are read from a named pipe.
func breakableNetPath(orders pipe: String) -> Never {
    // As in the service, which has no thread before it does so.
    Shortage.keepHeapSmall()
    let gates = GateBoard()
    let orders = Thread {
        guard let file = FileHandle(forUpdatingAtPath: pipe) else { return }
        var unread = Data()
        while true {
            unread.append(file.availableData)
            while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                gates.obey(String(decoding: unread[..<end], as: UTF8.self))
                unread = Data(unread[(end + 1)...])
            }
        }
    }
    orders.start()

    NetPathTool.main { registry in
        for registration in registry.all {
            registry.register(registration.type, summary: registration.summary) { section in
                ChaosMonitor(inner: registration.make(section), gate: gates[registration.type])
            }
        }
    }
}
