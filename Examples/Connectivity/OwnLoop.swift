// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A program whose main thread runs an event loop that is not libdispatch's, as with GTK, Qt or epoll(7).
//
// The loop makes the calls, which are the main actor's all the same: nothing has to serve the main queue. Ends with its
// input.

import Connectivity
import Foundation

@MainActor
func runOwnLoop() {
    let loop = EventLoop()
    guard NetworkMonitor.configureShared(deliverOn: .custom { loop.enqueue($0) }) else {
        fatalError("NetworkMonitor.shared was used before it was told of the loop")
    }
    var label = ""
    NetworkMonitor.shared.mainActorHandler = { isConnected in
        label = isConnected ? "hidden" : "∆ No Network"
        say(label)
    }
    loop.run(untilEndOf: .standardInput)
}
