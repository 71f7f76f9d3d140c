// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Dispatch

/// Where a monitor makes its calls.
public struct ConnectivityDelivery: Sendable {
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// The main queue, which is the main actor's.
    ///
    /// Something has to serve it: `dispatchMain()`, a run loop, or an asynchronous `main`. A program whose main thread
    /// blocks takes a ``queue(_:)``.
    public static let main = Self.queue(.main)

    /// A queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> ConnectivityDelivery {
        ConnectivityDelivery { body in queue.async(execute: body) }
    }

    /// An actor.
    ///
    /// An actor without an executor of its own uses the global pool. Once that was used, libdispatch wakes the process
    /// every second; what has to be idle takes ``main`` or a serial ``queue(_:)``.
    public static func actor(_ actor: some Actor) -> ConnectivityDelivery {
        ConnectivityDelivery { body in
            Task { await actor.perform(body) }
        }
    }
}

extension Actor {
    fileprivate func perform(_ body: @Sendable () -> Void) { body() }
}
