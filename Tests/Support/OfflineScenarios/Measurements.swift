// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathCurl
import NetPathHTTP
import OfflineRequests

// What `make bench-queue` measures; each prints one number per line, for a shell.

/// Prints how many requests per second `--callers` tasks enqueue, each after the other.
func measureEnqueuing() async throws {
    let queue = try open(sending: false)
    let count = options["count", default: 1_000]
    let callers = options["callers", default: 1]
    // The first makes what every later one finds.
    try await enqueueAll(in: queue, count: callers, callers: callers)
    // Making requests is not what is measured.
    let requests = (0..<count).map { options.request($0) }
    let begin = ContinuousClock.now
    try await enqueueAll(in: queue, count: count, callers: callers) { requests[$0] }
    print(rate(count, since: begin))
    queue.close()
}

/// Prints how many requests per second a full queue sends.
func measureDraining() async throws {
    let queue = try open(sending: false)
    let count = try queue.counts.pending
    queue.close()
    let begin = ContinuousClock.now
    let sender = try open(sending: true)
    try await sender.waitUntilEmpty()
    print(rate(count, since: begin))
    sender.close()
}

/// Prints how many requests per second the transport sends by itself, so many at a time.
func measureBareTransport() async {
    let count = options["count", default: 10_000]
    let callers = options["concurrency", default: 6]
    let body = TransportRequest.Body.bytes([UInt8](repeating: UInt8(ascii: "x"), count: options["size", default: 100]))
    let begin = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
        for caller in 0..<callers {
            group.addTask {
                for number in stride(from: caller, to: count, by: callers) {
                    let request = TransportRequest(
                        method: "POST",
                        url: "\(options.url)?id=request-\(number)",
                        headers: ["Idempotency-Key": "\"\(UUID().uuidString)\""],
                        body: body
                    )
                    let result = await withCheckedContinuation { continuation in
                        _ = CurlTransport.shared.start(request) { continuation.resume(returning: $0) }
                    }
                    if case .failure(let error) = result { fatalError("\(error)") }
                }
            }
        }
    }
    print(rate(count, since: begin))
}

/// Prints when the first and the last of 20 requests are delivered that were put there behind others which never are, in
/// milliseconds.
///
/// The others are `--dropping` requests, each to a host of its own in 10.0.0.0/8, which is to drop them, with `--middle 1`
/// half of them put there after the 20; and `--poisoned` ones to the same host. With `--outage` the same host answers 500 to all at first, and the time is since it serves, so
/// many seconds later.
func measureFairness() async throws {
    let filling = try open(sending: false)
    let dropping = (0..<options["dropping", default: 0]).map { "http://10.0.\($0 / 250).\($0 % 250 + 1)/ok" }
    let before = options["middle", default: 0] == 1 ? dropping.count / 2 : dropping.count
    for url in dropping.prefix(before) { try await filling.enqueue(RetryableRequest(endpoint: url)) }
    for number in 0..<options["poisoned", default: 0] {
        try await filling.enqueue(RetryableRequest(endpoint: "\(options.url)/status/500?poisoned=\(number)"))
    }
    let outage = options["outage"].flatMap { Int($0) }
    var good: Set<UUID> = []
    for number in 0..<20 {
        let path = outage == nil ? "/ok" : "/fail-until-release"
        let request = RetryableRequest(endpoint: "\(options.url)\(path)?id=outage&good=\(number)")
        good.insert(try await filling.enqueue(request))
    }
    for url in dropping.dropFirst(before) { try await filling.enqueue(RetryableRequest(endpoint: url)) }
    filling.close()
    var begin = ContinuousClock.now
    let sender = try OfflineRequestQueue(file: options.file, settings: options.settings)
    let (events, feed) = AsyncStream.makeStream(of: QueueEvent.self)
    let observation = sender.observe { feed.yield($0) }
    sender.start()
    if let outage {
        try await Task.sleep(for: .seconds(outage))
        _ = try await CurlTransport.shared.send(TransportRequest(url: "\(options.url)/release?id=outage"))
        begin = .now
    }
    var times: [Duration] = []
    for await case .succeeded(let id, _) in events where good.remove(id) != nil {
        times.append(ContinuousClock.now - begin)
        if good.isEmpty { break }
    }
    observation.cancel()
    print(Int((times.first ?? .zero) / .milliseconds(1)), Int((times.last ?? .zero) / .milliseconds(1)))
    sender.close()
}

/// Prints how long opening takes, in microseconds, and how much memory the process then has, and had, in KiB.
func measureOpening() async throws {
    let begin = ContinuousClock.now
    let queue = try open(sending: true)
    // Until the thread of the queue has looked at all it holds.
    let count = try queue.counts.pending
    let duration = ContinuousClock.now - begin
    try await Task.sleep(for: .milliseconds(300))
    print(Int(duration / .microseconds(1)), residentMemory("VmRSS"), residentMemory("VmHWM"), count)
    queue.close()
}

private func rate(_ count: Int, since begin: ContinuousClock.Instant) -> Int {
    Int(Double(count) / ((ContinuousClock.now - begin) / .seconds(1)))
}
