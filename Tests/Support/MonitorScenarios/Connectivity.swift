// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathNetlink
import Reachability

/// The monitor of applications, and what shows it; what happens are lines of text.
enum ConnectivityScenarios {
    static func run(_ arguments: [String]) {
        switch arguments.first {
        case "watch": self.watch()
        case "loop": self.loop()
        case "snapshot": self.readAtOnce()
        case "cycles": self.cycle(arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000)
        case "indicator": self.indicate()
        case "configured": self.configure()
        case "view": TerminalStatusView().run()
        default: refuse()
        }
    }

    /// Descriptors, threads and KiB.
    private static func writeResources() {
        let used = resources()
        write(["descriptors", "threads", "memoryKiB"].map { "\(used[$0] ?? -1)" }.joined(separator: " "))
    }

    private static func watch() -> Never {
        NetworkMonitor.shared.handler = { write("connected \($0)") }
        NetworkMonitor.shared.observeUpdates { write("\($0.status) \($0.connectionType.phrase)") }
        dispatchMain()
    }

    /// The loop of an application that sleeps between changes.
    private static func loop() -> Never {
        Task(executorPreference: NetworkMonitor.executor) { await self.show(NetworkMonitor.shared.updates) }
        dispatchMain()
    }

    @MainActor
    private static func show(_ updates: ConnectivityUpdates) async {
        for await update in updates {
            MainActor.assertIsolated()
            write("\(update.status) \(update.connectionType.phrase)")
        }
    }

    /// Reads a property first of all; says what that took, and what of the processor, in microseconds.
    private static func readAtOnce() {
        let (begin, beginOfProcessor) = (DispatchTime.now(), clock())
        let status = NetworkMonitor.shared.status
        let (end, endOfProcessor) = (DispatchTime.now(), clock())
        let time = (end.uptimeNanoseconds - begin.uptimeNanoseconds) / 1_000
        write("\(status) \(time) \((endOfProcessor - beginOfProcessor) * 1_000_000 / CLOCKS_PER_SEC)")
    }

    /// Starts and stops, over and over; each time with a path and a call.
    private static func cycle(_ count: Int) {
        let queue = DispatchQueue(label: "cycle")
        let kept = NetworkMonitor(deliverOn: .queue(queue))
        for number in 1...count {
            // One that starts again, and one that begins and ends, in turns.
            let monitor = number.isMultiple(of: 2) ? kept : NetworkMonitor(deliverOn: .queue(queue))
            let called = DispatchSemaphore(value: 0)
            let token = monitor.observe { _ in called.signal() }
            monitor.start()
            guard called.wait(timeout: .now() + 60) == .success else { return write("no call") }
            token.cancel()
            if monitor === kept { monitor.stop() }
            if number.isMultiple(of: count / 4) { Self.writeResources() }
        }
    }

    /// A banner that does not know of the terminal it is on, and a program that prints meanwhile.
    private static func indicate() -> Never {
        let indicator = OfflineIndicator(output: .standardOutput)
        indicator.start()
        // The main thread is busy with the work of the program.
        while let line = readLine() { indicator.print(line) }
        indicator.stop()
        exit(0)
    }

    /// The whole process goes by rules of its own.
    private static func configure() {
        var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("wan*")))
        rule.type = .cellular
        let coordinator = PathCoordinator(
            backends: [Backend("netlink", monitor: NetlinkMonitor())],
            settings: CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule]))
        )
        write("configured \(NetworkMonitor.configureShared(coordinator: coordinator))")
        for (name, monitor) in [("shared", NetworkMonitor.shared), ("another", NetworkMonitor())] {
            var update = monitor.update
            // Each look waits for a quarter of a second, which a busy machine may need more than once.
            _ = eventually {
                if update.path == nil { update = monitor.update }
                return update.path != nil
            }
            write("\(name) \(update.connectionType) \(update.isExpensive ? "expensive" : "not expensive")")
        }
        write("host \((try? HostReachability(host: "192.0.2.1").reach().name) ?? "wrong")")
        write("configured again \(NetworkMonitor.configureShared(coordinator: coordinator))")
    }
}
