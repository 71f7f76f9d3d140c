// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network
import Synchronization

/// Sleeps for ever: there is no run loop, and the main thread does nothing.
func blockTheMainThread() -> Never {
    while true { DispatchSemaphore(value: 0).wait() }
}

/// The plain use: every path, with whether it differs from the one before.
func watch(filter: String?) {
    let monitor =
        switch filter {
        case "only-wifi": NWPathMonitor(requiredInterfaceType: .wifi)
        case "only-wired": NWPathMonitor(requiredInterfaceType: .wiredEthernet)
        case "only-loopback": NWPathMonitor(requiredInterfaceType: .loopback)
        case "ethernet": NWPathMonitor.ethernetChannel
        case "no-other": NWPathMonitor(prohibitedInterfaceTypes: [.other, .loopback])
        case "no-wired": NWPathMonitor(prohibitedInterfaceTypes: [.wiredEthernet])
        default: NWPathMonitor()
        }
    let last = Mutex<NWPath?>(nil)
    monitor.pathUpdateHandler = { path in
        let differs = last.withLock { last in
            defer { last = path }
            return last != path
        }
        say("path", path, ["differs": differs, "isCurrent": monitor.currentPath == path])
    }
    monitor.start(queue: DispatchQueue(label: "watch"))
    blockTheMainThread()
}

/// Handlers that take long on a queue that would run many at once.
func watchOnConcurrentQueue() {
    let monitor = NWPathMonitor()
    let running = Atomic(0)
    monitor.pathUpdateHandler = { path in
        let others = running.add(1, ordering: .sequentiallyConsistent).oldValue
        Thread.sleep(forTimeInterval: 0.02)
        say("path", path, ["others": others])
        running.subtract(1, ordering: .sequentiallyConsistent)
    }
    monitor.start(queue: .global())
    blockTheMainThread()
}

/// A second monitor tells when a change has been handed out, so that a missing call is told from a late one.
func startWitness() -> NWPathMonitor {
    let witness = NWPathMonitor()
    witness.pathUpdateHandler = { say("witness", $0) }
    witness.start(queue: DispatchQueue(label: "witness"))
    return witness
}

func cancelInsideTheHandler() {
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { path in
        monitor.cancel()
        say("path", path)
    }
    monitor.start(queue: .global())
    _ = startWitness()
    blockTheMainThread()
}

func replaceInsideTheHandler() {
    let monitor = NWPathMonitor()
    monitor.pathUpdateHandler = { path in
        // A lock held during the call would make this, and everything else here, a deadlock.
        _ = (monitor.currentPath, monitor.queue, monitor.pathUpdateHandler != nil)
        monitor.pathUpdateHandler = { path in
            monitor.pathUpdateHandler = nil
            say("second", path)
        }
        say("first", path)
    }
    monitor.start(queue: .global())
    _ = startWitness()
    blockTheMainThread()
}

func setTheHandlerLate() {
    let monitor = NWPathMonitor()
    monitor.start(queue: DispatchQueue(label: "late"))
    let witness = NWPathMonitor()
    let isSet = Atomic(false)
    witness.pathUpdateHandler = { path in
        say("witness", path)
        if !isSet.exchange(true, ordering: .sequentiallyConsistent) {
            monitor.pathUpdateHandler = { say("path", $0) }
        }
    }
    witness.start(queue: DispatchQueue(label: "witness"))
    blockTheMainThread()
}

/// Nobody but the monitor itself keeps the monitor.
func stayAlive() {
    final class Captured: Sendable {}
    let started = WeakReference<NWPathMonitor>()
    let captured = WeakReference<Captured>()
    let calls = Atomic(0)
    func startAndForget() {
        let monitor = NWPathMonitor()
        let object = Captured()
        captured.set(object)
        started.set(monitor)
        monitor.pathUpdateHandler = { path in
            say("path", path, ["alive": started.object != nil])
            let calls = calls.add(1, ordering: .sequentiallyConsistent).newValue
            // A cycle, as applications make them: cancel() has to break it.
            if calls == 2 { monitor.cancel() }
            withExtendedLifetime(object) {}
        }
        monitor.start(queue: DispatchQueue(label: "alive"))
    }
    startAndForget()
    _ = eventually { calls.load(ordering: .sequentiallyConsistent) == 2 }
    check("the monitor ends with cancel()", eventually { started.object == nil })
    check("what the handler captured ends with cancel()", eventually { captured.object == nil })
    let unstarted = WeakReference<NWPathMonitor>()
    do { unstarted.set(NWPathMonitor()) }
    check("a monitor that was not started ends with its last reference", unstarted.object == nil)
    say("done")
}

/// Tells whether an object is still there.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    private let getter = Mutex<(@Sendable () -> Object?)?>(nil)

    var object: Object? { self.getter.withLock { $0 }?() }

    func set(_ object: Object) {
        self.getter.withLock { $0 = { [weak object] in object } }
    }
}
