// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// swift-format-ignore-file
// It stands here as the pages have it.

// What README.md and articles show, as it stands there; it is compiled and not run.

import Connectivity
import ConnectivityNotifications
import Dispatch
import Foundation
import NetPath
import NetPathConfiguration
import NetPathNetlink
import OfflineRequests
import Reachability

@MainActor private final class Label {
    var text = ""
    var isHidden = false
}

private final class Loop: Sendable {
    func enqueue(_: @escaping @Sendable () -> Void) {}
}

private func notifications(retryOperations: @escaping @MainActor @Sendable () -> Void) {
    let token = NotificationCenter.default.addObserver(
        forName: NetworkMonitor.connectivityRestoredNotification,
        object: nil,
        queue: .main
    ) { _ in MainActor.assumeIsolated { retryOperations() } }      // posted on the main queue
    print(token)
}

private func sleeping() {
    @MainActor func show(_ updates: ConnectivityUpdates) async {
        for await update in updates { print(update.status, update.connectionType) }
    }

    Task(executorPreference: NetworkMonitor.executor) { await show(NetworkMonitor.shared.updates) }
    dispatchMain()                                            // import Dispatch
}

private func waiting(for monitor: NetworkMonitor) async throws {
    try await monitor.wait(timeout: .seconds(10))              // until `isConnected`
    try await monitor.wait { $0.connectionType == .wifi }      // however long that takes
}

private func readme() async {
    if NetworkMonitor.shared.isConnected { print("online", NetworkMonitor.shared.connectionType.phrase) }
    NetworkMonitor.shared.mainActorHandler = { isConnected in print(isConnected ? "online" : "offline") }
    let token = NetworkMonitor.shared.observe { isConnected in print("and here", isConnected) }
    for await update in NetworkMonitor.shared.updates {     // changes of detail, too
        print(update.status, update.connectionType, update.path?.reason.message ?? "")
    }
    token.cancel()
}

private func coordinator() async {
    let coordinator = PathCoordinator(backends: [Backend("netlink", monitor: NetlinkMonitor())])
    coordinator.start()
    for await path in coordinator.paths() {
        print(path.status, path.reason.message)
    }
}

@MainActor private func application(label: Label) async {
    NetworkMonitor.shared.mainActorHandler = { label.isHidden = $0 }                  // now and on every change
    for await update in NetworkMonitor.shared.updates { print(update.status, update.connectionType) }
}

@MainActor private func indicator() {
    let indicator = OfflineIndicator()
    indicator.start()
    indicator.print("a line above the banner")
    indicator.progress("[####    ] 50 %")      // beside it

    TerminalStatusView().run()                  // or all that a program shows: ● Online via WiFi
}

@MainActor private func reachability(label: Label, sync: () -> Void) async throws {
    let host = try HostReachability(host: "example.net")       // or url:; or address:, without try
    let status = await host.status()                           // once the name is looked up
    if status.isReachable(allowingCellular: false) { sync() }
    switch status {
    case .reachable(let route): print("through \(route.interface ?? "?")", route.isVPN)
    case .cellular: print("reachable, and it may cost money")
    case .unknown(let reason), .unreachable(let reason): print(reason.message)
    }
    host.reach { status in print(status) }                     // now, and whenever it changes, on a queue of the host's own
    host.mainActorHandler = { status in label.isHidden = status.isReachable }      // the same on the main actor
    for await status in host.statuses { print(status.isPending ? "being looked up" : status.name) }
}

private func oneHost(send: () -> Void) async throws {
    let host = try HostReachability(host: "example.net")
    if await host.status().isReachable { send() }
    host.reach { status in print(status) }
}

private func sending(to host: HostReachability, send: () async -> Bool) async throws {
    var pause = Duration.seconds(1)
    while true {
        let status = try await host.wait()                             // until packets would be sent
        if await send() { break }
        do { try await host.wait(timeout: pause) { $0 != status } } catch is WaitError {}     // a pause, or another way
        pause = min(pause * 2, .seconds(60))
    }
}

@MainActor private final class View {
    let label = Label()

    func load() {
        print(NetworkMonitor.shared.isConnected ? "Online" : "Offline", NetworkMonitor.shared.connectionType.phrase)
        NetworkMonitor.shared.mainActorHandler = { [weak self] isConnected in
            self?.label.text = "∆ No Network"
            self?.label.isHidden = isConnected
        }
    }
}

private func ownLoop(_ loop: Loop) {
    let delivery = ConnectivityDelivery.custom { loop.enqueue($0) }
    let isEarly = NetworkMonitor.configureShared(deliverOn: delivery)  // before its first use
    let monitor = NetworkMonitor(deliverOn: delivery)                  // or one of one's own
    print(isEarly, monitor)
}

private func ownCoordinator() throws {
    let file = try LoadedConfiguration.load(path: "netpath.yaml", environment: [:])
    let coordinator = file.makeCoordinator()
    let monitor = NetworkMonitor(coordinator: coordinator)
    let host = try HostReachability(host: "example.net", on: coordinator)
    let queue = try OfflineRequestQueue(monitor: monitor)              // `unmeteredOnly` follows the same rules
    print(host, queue)
}
