// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import Dispatch

/// Where a monitor makes its calls.
public struct ConnectivityDelivery: Sendable {
    /// Whether the calls are the main actor's anyhow.
    let isMainActor: Bool
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// The main queue, which is the main actor's.
    ///
    /// Something has to serve it: `dispatchMain()`, a run loop, or an asynchronous `main`. A program whose main thread
    /// blocks takes a ``queue(_:)``.
    public static let main = Self.queue(.main)

    /// A queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> ConnectivityDelivery {
        ConnectivityDelivery(isMainActor: queue === DispatchQueue.main) { body in queue.async(execute: body) }
    }

    /// An actor.
    ///
    /// An actor without an executor of its own uses the global pool. Once that was used, libdispatch wakes the process
    /// every second; what has to be idle takes ``main`` or a serial ``queue(_:)``.
    public static func actor(_ actor: some Actor) -> ConnectivityDelivery {
        ConnectivityDelivery(isMainActor: actor === MainActor.shared) { body in
            Task { await actor.perform(body) }
        }
    }

    /// An event loop that is not libdispatch's, such as that of GTK, Qt or a program of its own.
    ///
    /// ```swift
    /// let monitor = NetworkMonitor(deliverOn: .custom { loop.enqueue($0) })
    /// ```
    ///
    /// - Parameter enqueue: Has the loop run a function once, later, and wakes it; called on any thread. Of one monitor no
    ///   more than one function waits at a time: it makes no further call before that was run.
    /// - Returns: What a monitor takes as `deliverOn`.
    public static func custom(
        _ enqueue: @escaping @Sendable (_ body: @escaping @Sendable () -> Void) -> Void
    ) -> ConnectivityDelivery {
        ConnectivityDelivery(isMainActor: false, run: enqueue)
    }
}

extension Actor {
    fileprivate func perform(_ body: @Sendable () -> Void) { body() }
}
