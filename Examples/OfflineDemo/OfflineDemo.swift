// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Offline requests to play with:
//
//     Examples offline-demo URL FILE CABLE [SIZE]
//
// CABLE is a command that cuts the network with `down` and mends it with `up`. With the SIZE of a terminal, which gives
// its keys one by one, a person plays; without one a script does. `make demo` runs it in a network of its own.

import Connectivity
import Foundation
import OfflineRequests

/// What the demonstration waits for.
enum Happening: Sendable {
    case key(Character)
    case network(ConnectivityUpdate)
    case queue
    case tick
}

func write(_ text: String) {
    // The reader may have closed the pipe.
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}

@MainActor
func offlineDemo(_ arguments: [String]) async {
    guard arguments.count >= 3 else {
        print("usage: Examples offline-demo URL FILE CABLE [SIZE]")
        exit(64)
    }
    let rows = arguments.dropFirst(3).first.map { $0.split(separator: " ").first.flatMap { Int($0) } ?? 0 }
    let (happenings, happened) = AsyncStream.makeStream(of: Happening.self)

    do {
        // One request at a time, so that the queue can be seen draining.
        var settings = QueueSettings()
        settings.concurrency = 1
        let queue = try OfflineRequestQueue(file: arguments[1], settings: settings)
        let client = OfflineClient(baseURL: arguments[0], queue: queue)
        let demo = Demo(client: client, cable: arguments[2]) { text in
            if rows == nil { write("\(text)\n") }
        }
        // Handlers first, so that no response is missed; then it may send.
        queue.onResponse(for: Demo.requestType) { request, _ in await demo.delivered(request) }
        queue.observe { _ in happened.yield(.queue) }
        queue.start()
        let network = Task {
            for await update in queue.monitor.updates { happened.yield(.network(update)) }
        }

        var script = Script()
        if rows == nil {
            write("This is no terminal that could be played with, so that a short script is played.\n")
        } else {
            Thread.detachNewThread {
                while let byte = try? FileHandle.standardInput.read(upToCount: 1)?.first {
                    happened.yield(.key(Character(UnicodeScalar(byte))))
                }
                happened.finish()
            }
        }
        var screen = DemoScreen(rows: rows ?? 0)
        var isTicking = false
        for await happening in happenings {
            if case .tick = happening {
                isTicking = false
                screen.slide(isOffline: !demo.isConnected)
            }
            await demo.take(happening)
            if rows == nil {
                while let keys = script.next(of: demo) {
                    for key in keys { await demo.take(.key(key)) }
                }
            } else {
                write(await screen.frame(of: demo))
                if !isTicking, screen.isSliding(isOffline: !demo.isConnected) {
                    isTicking = true
                    Task {
                        try await Task.sleep(for: .milliseconds(25))
                        happened.yield(.tick)
                    }
                }
            }
            if demo.isOver { break }
        }
        network.cancel()
        let waiting = try queue.counts.pending
        await queue.shutdown(within: .seconds(1))
        write("\(demo.answered) readings were answered at once, \(demo.later) delivered later, \(waiting) wait.\n")
    } catch {
        write("error: \(error)\n")
        exit(70)
    }
}
