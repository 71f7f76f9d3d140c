// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCurl
import NetPathHTTP
import OfflineRequests

/// Opens the queue of the options; with a point to die at, everything passes it.
func open(sending: Bool) throws -> OfflineRequestQueue {
    var settings = options.settings
    settings.sends = sending
    let killer = Killer(options)
    let transport: any HTTPTransport =
        killer.map { KillingTransport(transport: CurlTransport.shared, killer: $0) } ?? CurlTransport.shared
    let queue = try OfflineRequestQueue(file: options.file, settings: settings, transport: transport)
    if let killer { queue.onResponse(for: "") { _, _ in killer.pass(.handling) } }
    if options["events"] != nil { tellEvents(of: queue) }
    if sending { queue.start() }
    return queue
}

private func tellEvents(of queue: OfflineRequestQueue) {
    _ = queue.observe { event in
        switch event {
        case .attempt(_, let number): say(["event": "attempt", "number": "\(number)"])
        case .attemptFailed: ()
        case .backoff: say(["event": "backoff"])
        case .succeeded(_, let status): say(["event": "succeeded", "status": "\(status)"])
        case .dead(_, let reason): say(["event": "dead", "reason": reason])
        default: say(["event": "other", "what": "\(event)"])
        }
    }
}

/// Enqueues one request after another and names each when the queue has acknowledged it.
func enqueue(sending: Bool) async throws {
    say(["begin": options.scenario])
    let queue = try open(sending: sending)
    say(["open": options.file])
    for number in 1...options["count", default: 1_000_000] {
        let id = try await queue.enqueue(options.request(number))
        say(["acknowledged": "\(options["name"] ?? "request")-\(number)", "id": id.uuidString])
    }
    if sending { try await queue.waitUntilEmpty() }
    say(["end": options.scenario])
    // Goes on as an application would, which does other things.
    if options["stay", default: 0] == 1 { try await stay() }
    queue.close()
}

/// Sends what the file holds, and says when nothing is left; goes on until it is ended.
func deliver() async throws {
    say(["begin": options.scenario])
    let queue = try open(sending: true)
    say(["open": options.file])
    try await queue.waitUntilEmpty()
    say(["empty": options.file])
    if options["stay", default: 0] == 1 { try await stay() }
    queue.close()
}

/// Fills a queue, and then waits without a task of Swift's, as a program in C would that has nothing to do.
func idle() throws {
    let queue = try open(sending: true)
    let enqueued = DispatchSemaphore(value: 0)
    for number in 0..<options["count", default: 100] {
        queue.enqueue(options.request(number)) { _ in enqueued.signal() }
    }
    for _ in 0..<options["count", default: 100] { enqueued.wait() }
    say(["pending": "\(try queue.counts.pending)"])
    while true { pause() }
}

/// Says what the file holds.
func state() async throws {
    let queue = try open(sending: false)
    let counts = try queue.counts
    say([
        "ready": "\(counts.ready)", "blocked": "\(counts.blocked)", "backoff": "\(counts.backoff)",
        "running": "\(counts.running)", "held": "\(counts.held)", "dead": "\(counts.dead)",
    ])
    for record in try await queue.pendingRequests {
        say(["url": record.request.endpoint, "attempts": "\(record.request.retryCount)"])
    }
    queue.close()
}

/// Fills a file with requests, many at a time.
func fill() async throws {
    let queue = try open(sending: false)
    try await enqueueAll(in: queue, count: options["count", default: 100_000], callers: 512)
    say(["pending": "\(try queue.counts.pending)"])
    queue.close()
}

/// Enqueues so many requests from so many tasks.
func enqueueAll(
    in queue: OfflineRequestQueue,
    count: Int,
    callers: Int,
    _ request: @escaping @Sendable (Int) -> RetryableRequest = { options.request($0) }
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for caller in 0..<callers {
            group.addTask {
                for number in stride(from: caller, to: count, by: callers) {
                    try await queue.enqueue(request(number))
                }
            }
        }
        try await group.waitForAll()
    }
}

/// Never returns; the process is ended from outside.
func stay() async throws {
    try await Task.sleep(for: .seconds(86_400))
}
