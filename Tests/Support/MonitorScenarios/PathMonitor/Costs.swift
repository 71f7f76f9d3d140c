// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathStandard
import Network
import Synchronization

/// What many monitors cost that one does not.
func many(_ count: Int) {
    let queue = DispatchQueue(label: "many")
    let calls = Atomic(0)
    func start() -> NWPathMonitor {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { _ in calls.add(1, ordering: .sequentiallyConsistent) }
        monitor.start(queue: queue)
        return monitor
    }
    let first = start()
    _ = eventually { calls.load(ordering: .sequentiallyConsistent) == 1 }
    say("one", resources())
    let others = (1..<count).map { _ in start() }
    check("each has its path", eventually { calls.load(ordering: .sequentiallyConsistent) == count })
    say("many", resources())
    // The next change reaches them all.
    _ = eventually(within: 30) { calls.load(ordering: .sequentiallyConsistent) == 2 * count }
    say("changed", resources().merging(["calls": calls.load(ordering: .sequentiallyConsistent)]) { $1 })
    for monitor in [first] + others { monitor.cancel() }
    say("done")
}

/// Starts and cancels, over and over; each time with a path.
func cycle(_ count: Int) {
    let queue = DispatchQueue(label: "cycle")
    for number in 1...count {
        let monitor = NWPathMonitor()
        let called = DispatchSemaphore(value: 0)
        monitor.pathUpdateHandler = { _ in called.signal() }
        monitor.start(queue: queue)
        guard called.wait(timeout: .now() + 60) == .success else {
            check("every start has a path", false)
            break
        }
        monitor.cancel()
        if number.isMultiple(of: count / 20) {
            say("cycle", resources().merging(["number": number]) { $1 })
        }
    }
    say("done")
}

/// How long after the coordinator's callback a handler is called, and, in turns, a block that does nothing.
///
/// Somebody else has to change the network whenever this is ready.
func measureLatency() {
    let callback = Callback()
    // Sharers are called in no particular order: one of many is called before the monitor.
    for _ in 0..<20 { SharedCoordinator.process.update(Stamp(callback)) }
    let queue = DispatchQueue(label: "latency")
    let hop = DispatchQueue(label: "hop")
    @Sendable func record(_ event: String) {
        let microseconds = callback.microseconds
        say(event, ["microseconds": microseconds])
    }
    for _ in 0..<101 {
        let hopped = Occurrence()
        callback.follow { hop.async { hopped.happen { record("hop") } } }
        say("ready")
        hopped.wait()
        callback.follow {}
        let monitor = NWPathMonitor()
        let (started, handled) = (Occurrence(), Occurrence())
        monitor.pathUpdateHandler = { _ in started.happen() }
        monitor.start(queue: queue)
        started.wait()
        // What is replaced after the first call is not called with the same path again.
        monitor.pathUpdateHandler = { _ in handled.happen { record("handler") } }
        say("ready")
        handled.wait()
        monitor.cancel()
    }
    say("done")
}

/// Something that is waited for, and counts once: the network may also change by itself.
private final class Occurrence: Sendable {
    private let hasHappened = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)

    func happen(_ body: () -> Void = {}) {
        if self.hasHappened.exchange(true, ordering: .sequentiallyConsistent) { return }
        body()
        self.semaphore.signal()
    }

    func wait() { self.semaphore.wait() }
}

/// What the first of many sharers does and when it was called.
private final class Callback: Sendable {
    private let number = Atomic<UInt64>(0)
    private let time = Atomic<UInt64>(0)
    private let body = Mutex<@Sendable () -> Void>({})

    /// The time since the last callback.
    var microseconds: Double {
        let now = DispatchTime.now().uptimeNanoseconds
        return Double(Int64(now) - Int64(self.time.load(ordering: .sequentiallyConsistent))) / 1_000
    }

    /// Has something done in the callback.
    func follow(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
    }

    func receive(_ number: UInt64) {
        let now = DispatchTime.now().uptimeNanoseconds
        guard self.number.exchange(number, ordering: .relaxed) != number else { return }
        self.time.store(now, ordering: .sequentiallyConsistent)
        let body = self.body.withLock { $0 }
        body()
    }
}

private final class Stamp: SharedPathListener {
    private let callback: Callback
    init(_ callback: Callback) { self.callback = callback }
    var wantsPaths: Bool { true }
    func receive(_ snapshot: PathSnapshot) { self.callback.receive(snapshot.number) }
}

/// Does nothing but listen.
func idle(on queue: String) {
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { say("path", $0) }
    switch queue {
    case "main":
        monitor.start(queue: .main)
        dispatchMain()
    case "global": monitor.start(queue: .global())
    default: monitor.start(queue: DispatchQueue(label: "idle"))
    }
    blockTheMainThread()
}
