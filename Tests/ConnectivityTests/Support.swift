// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathTestKit
import Testing

extension Observation {
    static let wifi = Observation.online(.wifi("wlan0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
    static let ethernet = Observation.online(.wired("eth0", 3).with("192.0.2.8/24"), gateway: "192.0.2.1")
    static let modem = Observation.online(.cellular("wwan0", 4).with("192.0.2.9/24"), gateway: "192.0.2.1")
}

/// What was called, in order, to be waited for.
struct Calls<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() {
        (self.stream, self.continuation) = AsyncStream.makeStream(of: Element.self)
    }

    @Sendable func add(_ element: Element) { self.continuation.yield(element) }

    /// Waits for the next call; for one consumer.
    func next() async throws -> Element {
        for await element in self.stream { return element }
        throw CancellationError()
    }
}

/// A monitor of a script, on a queue of its own.
struct Scripted {
    let script: ScriptedMonitor
    let queue = DispatchQueue(label: "scripted")
    let monitor: NetworkMonitor

    init(_ observation: Observation? = .wifi) {
        self.script = ScriptedMonitor(observation)
        self.monitor = NetworkMonitor(monitor: self.script, deliverOn: .queue(self.queue))
    }

    /// Waits until all calls that are due have been made.
    func settle() async {
        await withCheckedContinuation { continuation in self.queue.async { continuation.resume() } }
    }
}
