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
        guard called.wait(timeout: .now() + 10) == .success else {
            check("every start has a path", false)
            break
        }
        monitor.cancel()
        if number == count / 10 || number == count {
            // The threads of the last one may still be on their way out.
            Thread.sleep(forTimeInterval: 0.3)
            say("cycle", resources().merging(["number": number]) { $1 })
        }
    }
    say("done")
}

/// The time between the coordinator's callback and the handler, for every change.
func measureLatency() {
    final class First: Sendable {
        let number = Atomic<UInt64>(0)
        let time = Atomic<UInt64>(0)
    }
    final class Stamp: PathSharer {
        private let first: First
        init(_ first: First) { self.first = first }
        var wantsPaths: Bool { true }
        func receive(_ snapshot: PathSnapshot) {
            let now = DispatchTime.now().uptimeNanoseconds
            guard self.first.number.exchange(snapshot.number, ordering: .relaxed) != snapshot.number else { return }
            self.first.time.store(now, ordering: .sequentiallyConsistent)
        }
    }
    let first = First()
    // Sharers are called in no particular order: one of many is called before the monitor.
    for _ in 0..<20 { SharedPath.process.update(Stamp(first)) }
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { path in
        let now = DispatchTime.now().uptimeNanoseconds
        let heard = first.time.load(ordering: .sequentiallyConsistent)
        say("path", path, ["microseconds": Double(Int64(now) - Int64(heard)) / 1_000])
    }
    monitor.start(queue: DispatchQueue(label: "latency"))
    blockTheMainThread()
}

/// The time a bare block needs from a thread that slept to an idle queue: no handler can be faster.
func measureHop() {
    let queue = DispatchQueue(label: "hop")
    let sleeper = Thread {
        for _ in 0..<101 {
            Thread.sleep(forTimeInterval: 0.02)
            let begin = DispatchTime.now().uptimeNanoseconds
            queue.async {
                let end = DispatchTime.now().uptimeNanoseconds
                say("hop", ["microseconds": Double(end - begin) / 1_000])
            }
        }
        queue.sync {}
        say("done")
        exit(0)
    }
    sleeper.start()
    blockTheMainThread()
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
