// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPathHTTP
import OfflineRequests
import Synchronization

/// What reports, and what it shows of that.
final class Sensor: Sendable {
    /// Handlers of responses are found by this, also after a restart of the program.
    static let requestType = "reading"

    private let client: OfflineClient
    private let indicator: OfflineIndicator
    private let arrived = Mutex(Set<Int>())

    init(client: OfflineClient, indicator: OfflineIndicator) {
        self.client = client
        self.indicator = indicator
    }

    /// How many readings the server has.
    var count: Int { self.arrived.withLock(\.count) }

    /// Reports a reading: it is answered, or it is on disk when this returns.
    func report(_ number: Int) async {
        do {
            let answer: TransportResponse = try await self.client.fetchWithOfflineSupport(
                endpoint: "/echo",
                method: "POST",
                body: Data("\(number)".utf8),
                requestType: Self.requestType
            )
            self.arrived.withLock { _ = $0.insert(number) }
            self.indicator.print("  answered   reading \(String(decoding: answer.body, as: UTF8.self))")
        } catch .queuedForRetry {
            self.indicator.print("  kept       reading \(number), \(self.waiting) wait")
        } catch {
            self.indicator.print("  failed     reading \(number): \(error)")
        }
        self.showWaiting()
    }

    /// Takes the response to a reading that had to wait; the queue repeats the request until this has returned.
    func delivered(_ request: RetryableRequest, _ response: TransportResponse) {
        guard let number = Int(String(decoding: response.body, as: UTF8.self)) else { return }
        self.arrived.withLock { _ = $0.insert(number) }
        self.indicator.print("  delivered  reading \(number)")
        self.showWaiting()
    }

    private var waiting: Int { self.client.queue.pendingRequests.count }

    private func showWaiting() {
        let waiting = self.waiting
        self.indicator.progress(waiting == 0 ? nil : "\(waiting) wait to be sent")
    }
}
