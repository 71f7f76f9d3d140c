// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import Observation
import Synchronization
import Testing

/// The monitor of applications as another package uses it, on this machine's own kernel.
@Suite(.timeLimit(.minutes(5)))
struct ConnectivityUseTests {
    /// A model of an application: nothing of the library stands in the way of its own `@Observable`.
    @Observable @MainActor
    final class Model {
        var text = ""
    }

    @Test @MainActor func sharedMonitor() async {
        let model = Model()
        let monitor = NetworkMonitor.shared
        #expect(monitor.connected == monitor.isConnected)
        #expect(monitor.isConnected == (monitor.status == .connected))
        #expect(monitor.isConnected == (monitor.connectionType != .none))
        #expect(monitor.path != nil)
        await withCheckedContinuation { continuation in
            let calls = Atomic(0)
            monitor.handler = { [weak model] isConnected in
                MainActor.assumeIsolated { model?.text = isConnected ? "connected" : "disconnected" }
                if calls.add(1, ordering: .relaxed).newValue == 1 { continuation.resume() }
            }
        }
        #expect(model.text == (monitor.connected ? "connected" : "disconnected"))
        // As applications for Apple's platforms write it.
        monitor.handler = { [weak model] isConnected in
            DispatchQueue.main.async {
                model?.text = isConnected ? "connected" : "disconnected"
            }
        }
        monitor.handler = nil
        monitor.refresh()
    }

    /// The label of a screen: hidden while connected.
    @MainActor
    final class Screen {
        final class Label {
            var isHidden = true
            var text = ""
        }

        let label = Label()

        func didAppear() {
            NetworkMonitor.shared.mainActorHandler = { [weak self] isConnected in
                self?.label.text = "∆ No Network"
                self?.label.isHidden = isConnected
            }
        }
    }

    @Test @MainActor func labelOfAScreen() async throws {
        let screen = Screen()
        screen.didAppear()
        // Told after the handler, which was there first.
        await withCheckedContinuation { continuation in
            let isFirst = Atomic(true)
            NetworkMonitor.shared.observe { _ in
                if isFirst.exchange(false, ordering: .relaxed) { continuation.resume() }
            }
        }
        #expect(screen.label.isHidden == NetworkMonitor.shared.isConnected)
        #expect(screen.label.text == "∆ No Network")
        NetworkMonitor.shared.mainActorHandler = nil
    }

    @Test func monitorOfAView() async {
        let monitor = NetworkMonitor(deliverOn: .queue(DispatchQueue(label: "view")))
        monitor.start()
        var updates = monitor.updates.makeAsyncIterator()
        let first = await updates.next()
        #expect(first?.status.hasPath == first?.isConnected)
        #expect(first?.connectionType.phrase.isEmpty == false)
        monitor.stop()
        #expect(first?.isConnected == monitor.isConnected)
    }

    @Test @MainActor func previewOfAView() async {
        let preview = NetworkMonitor.preview(.offline)
        #expect(preview.status.displayName == "Offline")
        let text = Mutex("")
        await withCheckedContinuation { continuation in
            let token = preview.observe { isConnected in
                text.withLock { $0 = isConnected ? "Online" : "∆ No Network" }
                continuation.resume()
            }
            withExtendedLifetime(token) {}
        }
        #expect(text.withLock { $0 } == "∆ No Network")
    }
}
