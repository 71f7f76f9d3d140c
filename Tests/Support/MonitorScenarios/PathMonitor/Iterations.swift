// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network
import Synchronization

/// `for await` alone starts the monitor; cancel() ends it.
func iterate() async {
    let monitor = NWPathMonitor()
    check("nothing runs yet", monitor.queue == nil)
    for await path in monitor {
        say("path", path, ["isCurrent": monitor.currentPath == path])
        if path.status == .unsatisfied { monitor.cancel() }
    }
    check("an iteration after the end has no paths", await monitor.first { _ in true } == nil)
    say("done")
}

/// Two iterators, one of them too slow, beside a handler.
func iterateIndependently() async {
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { say("handler", $0) }
    monitor.start(queue: .global())
    var slow = monitor.makeAsyncIterator()
    check("the slow one gets the first path", await slow.next()?.status == .satisfied)
    let quick = Task {
        var count = 0
        for await path in monitor {
            say("quick", path)
            count += 1
            if path.status == .unsatisfied { break }
        }
        return count
    }
    let count = await quick.value
    check("the quick one saw several paths", count >= 2)
    // The quick one may have heard of the newest path a moment before it is there for this one.
    var skipped = await slow.next()
    if skipped?.status == .satisfied { skipped = await slow.next() }
    check("the slow one skips to the newest", skipped?.status == .unsatisfied)

    let waiting = Task {
        var paths = monitor.makeAsyncIterator()
        _ = await paths.next()
        return await paths.next() == nil
    }
    try? await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    check("cancelling the task ends its iteration", await waiting.value)
    check("the others go on", monitor.queue != nil && monitor.pathUpdateHandler != nil)
    let last = Task { await slow.next() == nil }
    try? await Task.sleep(for: .milliseconds(20))
    monitor.cancel()
    check("cancelling the monitor ends an iteration that waits", await last.value)
    say("done")
}

/// The one-shot idiom: nothing is left when the loop is left early.
func iterateOnce() async {
    func current() async -> NWPath? {
        for await path in NWPathMonitor() { return path }
        return nil
    }
    let before = openSockets
    let first = await current()
    if let first { say("path", first) }
    for _ in 0..<100 { check("the path is the same", await current() == first) }
    check("nothing is left open", eventually { openSockets == before })
    say("done")
}

/// How many sockets the process has; each run of the netlink backend has several.
private var openSockets: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix("socket")
            ?? false
    }
}
