// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network
import Synchronization

/// What needs no change of the network.
func lifecycle() {
    let early = NWPathMonitor()
    check("there is no queue before the start", early.queue == nil)
    early.cancel()
    let key = DispatchSpecificKey<String>()
    let first = DispatchQueue(label: "first")
    first.setSpecific(key: key, value: "first")
    let second = DispatchQueue(label: "second")
    let queues = Mutex<[String?]>([])
    let called = DispatchSemaphore(value: 0)
    early.pathUpdateHandler = { _ in
        queues.withLock { $0.append(DispatchQueue.getSpecific(key: key)) }
        called.signal()
    }
    first.suspend()
    early.start(queue: first)
    early.start(queue: second)
    check("the queue is the first one", early.queue === first)
    // Each look waits for a quarter of a second, which a busy machine may need more than once.
    let isKnown = eventually { "\(early.currentPath.status)" == "satisfied" }
    check("the path is known although the queue stands still", isKnown)
    check("nothing is called within start()", queues.withLock { $0.isEmpty })
    first.resume()
    check("cancel() before the start is tolerated", called.wait(timeout: .now() + 60) == .success)
    check("the handler runs on the first queue", queues.withLock { $0 } == ["first"])
    let last = early.currentPath
    early.cancel()
    early.cancel()
    check("the queue stays after the end", early.queue === first)
    check("the handler is gone after the end", early.pathUpdateHandler == nil)
    check("the last path stays after the end", early.currentPath == last)

    // Something else has to run: with it, every monitor that may have a path has one.
    let witness = NWPathMonitor()
    let seen = DispatchSemaphore(value: 0)
    witness.pathUpdateHandler = { _ in seen.signal() }
    witness.start(queue: .global())
    _ = seen.wait(timeout: .now() + 60)
    early.pathUpdateHandler = { _ in queues.withLock { $0.append("again") } }
    early.start(queue: first)
    first.sync {}
    check("start() after cancel() does nothing", queues.withLock { $0.count } == 1)
    check("a handler set after the end is not kept", early.pathUpdateHandler == nil)
    say("done")
}

/// Reads the current path of a monitor that nobody started.
func readWithoutStarting() {
    let begin = DispatchTime.now()
    var path = NWPathMonitor().currentPath
    let end = DispatchTime.now()
    // Each look waits for a quarter of a second, which a busy machine may need more than once.
    _ = eventually {
        if "\(path.status)" == "satisfied" { return true }
        path = NWPathMonitor().currentPath
        return false
    }
    say("path", path, ["microseconds": Double(end.uptimeNanoseconds - begin.uptimeNanoseconds) / 1_000])
    let wifi = NWPathMonitor(requiredInterfaceType: .wifi)
    say("wifi", wifi.currentPath)
    check("reading starts nothing for good", eventually { resources()["descriptors", default: 0] < 10 })
    say("done")
}

/// Everything at once, from many threads, while the network changes.
func useFromManyThreads() {
    let monitor = NWPathMonitor()
    monitor.start(queue: .global())
    let witness = startWitness()
    let end = Atomic(false)
    say("ready")
    let group = DispatchGroup()
    for number in 0..<8 {
        let thread = Thread {
            while !end.load(ordering: .relaxed) { useEverything(of: monitor, number) }
            group.leave()
        }
        group.enter()
        thread.start()
    }
    _ = eventually(within: 30) { "\(witness.currentPath.status)" == "unsatisfied" }
    end.store(true, ordering: .relaxed)
    group.wait()
    // Monitors learn of a path one after the other, and the witness may be the first.
    check("the last path reaches every monitor", eventually { "\(monitor.currentPath.status)" == "unsatisfied" })
    say("done")
}

private func useEverything(of monitor: NWPathMonitor, _ number: Int) {
    _ = monitor.currentPath.availableInterfaces.first?.name
    if number.isMultiple(of: 2) {
        monitor.pathUpdateHandler = { path in _ = path.gateways }
    } else {
        monitor.pathUpdateHandler = nil
    }
    _ = monitor.pathUpdateHandler
    _ = monitor.queue
    _ = monitor.debugDescription
    let other = NWPathMonitor()
    other.start(queue: .global())
    other.cancel()
}
