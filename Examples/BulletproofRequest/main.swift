// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Requests a page from a host until it succeeds, whatever the network does meanwhile:
//
//     ExampleBulletproofRequest example.net 80 [--no-cellular]
//
// Ctrl-C cancels it.

import Foundation
import Reachability

let arguments = CommandLine.arguments.dropFirst()
guard let host = arguments.first, let port = arguments.dropFirst().first.flatMap({ UInt16($0) }) else {
    print("usage: ExampleBulletproofRequest HOST PORT [--no-cellular]")
    exit(64)
}
do {
    let request = try BulletproofRequest(
        host: host,
        port: port,
        allowsCellularAccess: !arguments.contains("--no-cellular"),
        log: { print($0) }
    )
    signal(SIGINT, SIG_IGN)
    let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    interruption.setEventHandler { request.cancel() }
    interruption.resume()

    let queue = OperationQueue()
    queue.addOperation(request)
    queue.waitUntilAllOperationsAreFinished()
    switch request.result {
    case .success(let text): print("done: \(text.split(whereSeparator: \.isNewline).last ?? "")")
    case .failure(let error): print("failed: \(error)")
    case nil: print("failed: cancelled before it began")
    }
} catch {
    print("error: \(error)")
    exit(64)
}
