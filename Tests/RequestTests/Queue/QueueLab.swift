// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import OfflineRequests

extension Evidence {
    static let wifi = Evidence.online(.wifi("wlan0", 2).with("192.0.2.7/24"), gateway: "192.0.2.1")
    static let ethernet = Evidence.online(.wired("eth0", 3).with("192.0.2.8/24"), gateway: "192.0.2.1")
    static let modem = Evidence.online(.cellular("wwan0", 4).with("192.0.2.9/24"), gateway: "192.0.2.1")
}

/// A queue in a folder of its own, between a scripted network and a scripted server.
struct QueueLab {
    /// Without the politeness that takes time.
    static let quick: QueueSettings = {
        var settings = QueueSettings.with { ($0.baseBackoff, $0.maxBackoff) = (.milliseconds(20), .milliseconds(100)) }
        settings.minimumOnline = .zero
        settings.reconnectJitter = .zero
        // The tasks of other tests may hold up one for minutes.
        settings.handlerTimeLimit = .seconds(900)
        return settings
    }()

    let folder: TemporaryDirectory
    let transport: ScriptedTransport
    let network: ScriptedMonitor
    let monitor: NetworkMonitor

    init(
        _ answer: ScriptedTransport.Answer = .status(200),
        network: Evidence? = .wifi,
        resolver: ScriptedResolver? = nil
    ) throws {
        self.folder = try TemporaryDirectory()
        self.transport = ScriptedTransport(answer)
        self.network = ScriptedMonitor(network, resolver: resolver)
        self.monitor = NetworkMonitor(
            monitor: self.network,
            deliverOn: .queue(DispatchQueue(label: "lab"))
        )
    }

    var file: String { self.folder["queue.sqlite"] }

    /// Opens the queue, once more if need be.
    func open(_ settings: QueueSettings = QueueLab.quick) throws -> OfflineRequestQueue {
        try OfflineRequestQueue(file: self.file, settings: settings, transport: self.transport, monitor: self.monitor)
    }

    /// Opens the queue and starts it.
    func started(_ settings: QueueSettings = QueueLab.quick) throws -> OfflineRequestQueue {
        let queue = try self.open(settings)
        queue.start()
        return queue
    }

    /// Waits until the monitor has heard that there is no network.
    func offline() async {
        for await update in self.monitor.updates where !update.isConnected { return }
    }

    func request(_ path: String = "a", method: String = "POST") -> RetryableRequest {
        RetryableRequest(endpoint: "http://192.0.2.80/\(path)", method: method, body: Data("x".utf8))
    }

    /// The paths that were sent, in order.
    var sent: [String] { self.transport.requests.map { String($0.url.split(separator: "/").last ?? "") } }
}

/// The events of a queue, to be waited for.
struct Events: Sendable {
    private let state = AwaitableState<[QueueEvent]>([])

    init(_ queue: OfflineRequestQueue) {
        queue.observe { [state = self.state] event in state.update { $0.append(event) } }
    }

    var all: [QueueEvent] { self.state.value }

    func wait(for event: QueueEvent) async throws {
        try await self.wait { $0 == event }
    }

    func wait(count: Int = 1, for condition: @escaping @Sendable (QueueEvent) -> Bool) async throws {
        try await self.state.wait { $0.count(where: condition) >= count }
    }
}

extension QueueEvent {
    var isHeld: Bool { if case .held = self { true } else { false } }
    var isDead: Bool { if case .dead = self { true } else { false } }
    var isBackoff: Bool { if case .backoff = self { true } else { false } }
}
