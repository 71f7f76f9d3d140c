// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Requests a page from a host until it succeeds, whatever the network does meanwhile:
//
//     Examples request example.net 80 [--no-cellular]       over a socket, as an operation of a queue
//         [--config=FILE]                                   with rules that say which links are cellular
//     Examples request https://example.net/ [--no-cellular]  over HTTP, as a task
//
// Ctrl-C cancels it.

import Dispatch
import Foundation
import NetPath
import NetPathConfiguration
import NetPathCurl
import NetPathHTTP
import Reachability

/// Calls a function on Ctrl-C.
func onInterrupt(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler(handler: body)
    // A signal that comes before is lost.
    let isRegistered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { isRegistered.signal() }
    source.resume()
    isRegistered.wait()
    return source
}

func runOperation(host: String, port: UInt16, allowsCellularAccess: Bool, configuration: String?) throws {
    let coordinator = try configuration.map { try LoadedConfiguration.load(path: $0, environment: [:]) }?
        .makeCoordinator()
    if let coordinator {
        // Before the first path it is unknown what is cellular.
        let known = DispatchSemaphore(value: 0)
        coordinator.subscribe { _ in known.signal() }
        coordinator.start()
        known.wait()
    }
    let request = try BulletproofRequest(
        host: host,
        port: port,
        on: coordinator,
        allowsCellularAccess: allowsCellularAccess,
        log: { print($0) }
    )
    let interruption = onInterrupt { request.cancel() }
    defer { interruption.cancel() }
    let queue = OperationQueue()
    queue.addOperation(request)
    queue.waitUntilAllOperationsAreFinished()
    switch request.result {
    case .success(let text): print("done: \(text.split(whereSeparator: \.isNewline).last ?? "")")
    case .failure(let error): print("failed: \(error)")
    case nil: print("failed: cancelled before it began")
    }
}

/// On the main actor the task begins only when everything is there that may cancel it.
@MainActor
func runTask(url: String, allowsCellularAccess: Bool) async {
    let request = BulletproofHTTPRequest(
        request: TransportRequest(url: url),
        allowsCellularAccess: allowsCellularAccess,
        transport: CurlTransport.shared,
        log: { print($0) }
    )
    let task = Task { try await request.response() }
    let interruption = onInterrupt { task.cancel() }
    defer { interruption.cancel() }
    do {
        let response = try await task.value
        let text = String(decoding: response.body, as: UTF8.self)
        print("done: \(response.status) \(text.split(whereSeparator: \.isNewline).last ?? "")")
    } catch is CancellationError {
        print("failed: cancelled")
    } catch {
        print("failed: \(error)")
    }
}

@MainActor
func requestExample(_ arguments: [String]) async {
    let words = arguments.filter { !$0.hasPrefix("--") }
    let allowsCellularAccess = !arguments.contains("--no-cellular")
    do {
        if let url = words.first, url.contains("://") {
            await runTask(url: url, allowsCellularAccess: allowsCellularAccess)
        } else if words.count == 2, let host = words.first, let port = words.last.flatMap({ UInt16($0) }) {
            let file = arguments.first { $0.hasPrefix("--config=") }?.dropFirst("--config=".count)
            try runOperation(
                host: host,
                port: port,
                allowsCellularAccess: allowsCellularAccess,
                configuration: file.map(String.init)
            )
        } else {
            print("usage: Examples request (HOST PORT | URL) [--no-cellular]")
            exit(64)
        }
    } catch {
        print("error: \(error)")
        exit(64)
    }
}
