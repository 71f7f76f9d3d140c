// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathTestKit
import Testing

extension Evidence {
    static let wifi = Evidence.online(.wifi("wlan0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
    static let ethernet = Evidence.online(.wired("eth0", 3).with("192.0.2.8/24"), gateway: "192.0.2.1")
    static let modem = Evidence.online(.cellular("wwan0", 4).with("192.0.2.9/24"), gateway: "192.0.2.1")
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

    init(_ evidence: Evidence? = .wifi) {
        self.script = ScriptedMonitor(evidence)
        self.monitor = NetworkMonitor(monitor: self.script, deliverOn: .queue(self.queue))
    }

    /// Waits until all calls that are due have been made.
    func settle() async {
        await withCheckedContinuation { continuation in self.queue.async { continuation.resume() } }
    }
}
