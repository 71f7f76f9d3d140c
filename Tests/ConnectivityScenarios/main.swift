// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import NetPath
import NetPathNetlink
import Reachability

// Runs one scenario against the real kernel and writes what happens as lines; the tests run it in namespaces.

/// Writes a line at once, though the output is a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// What the process has open, and how much memory it uses: descriptors, threads and KiB.
///
/// Measured when the last monitors have gone, and their threads with them, which takes its time on a busy machine.
func resources() -> String {
    func measure() -> [Int] {
        let files = FileManager.default
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let resident = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?.filter(\.isNumber)
        return [
            (try? files.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1,
            (try? files.contentsOfDirectory(atPath: "/proc/self/task").count) ?? -1,
            resident.flatMap { Int($0) } ?? -1,
        ]
    }
    var (last, now) = ([0], measure())
    while last.prefix(2) != now.prefix(2) {
        Thread.sleep(forTimeInterval: 0.3)
        (last, now) = (now, measure())
    }
    return now.map(String.init).joined(separator: " ")
}

func watch() -> Never {
    NetworkMonitor.shared.handler = { say("connected \($0)") }
    NetworkMonitor.shared.observeUpdates { say("\($0.status) \($0.connectionType.phrase)") }
    dispatchMain()
}

/// Reads a property first of all; says what that took, and what of the processor, in microseconds.
func readAtOnce() {
    let (begin, beginOfProcessor) = (DispatchTime.now(), clock())
    let status = NetworkMonitor.shared.status
    let (end, endOfProcessor) = (DispatchTime.now(), clock())
    let time = (end.uptimeNanoseconds - begin.uptimeNanoseconds) / 1_000
    say("\(status) \(time) \((endOfProcessor - beginOfProcessor) * 1_000_000 / CLOCKS_PER_SEC)")
}

/// Starts and stops, over and over; each time with a path and a call.
func cycle(_ count: Int) {
    let queue = DispatchQueue(label: "cycle")
    let kept = NetworkMonitor(deliverOn: .queue(queue))
    for number in 1...count {
        // One that starts again, and one that begins and ends, in turns.
        let monitor = number.isMultiple(of: 2) ? kept : NetworkMonitor(deliverOn: .queue(queue))
        let called = DispatchSemaphore(value: 0)
        let token = monitor.observe { _ in called.signal() }
        monitor.start()
        guard called.wait(timeout: .now() + 60) == .success else { return say("no call") }
        token.cancel()
        if monitor === kept { monitor.stop() }
        if number == count / 10 || number == count { say(resources()) }
    }
}

/// A banner that does not know of the terminal it is on, and a program that prints meanwhile.
func indicate() -> Never {
    let indicator = OfflineIndicator(output: .standardOutput)
    indicator.start()
    // The main thread is busy with the work of the program.
    while let line = readLine() { indicator.print(line) }
    indicator.stop()
    exit(0)
}

/// The whole process goes by rules of its own.
func configure() {
    var rule = InterfaceRule(InterfaceRule.Match(name: GlobPattern("wan*")))
    rule.type = .cellular
    let coordinator = PathCoordinator(
        backends: [Backend("netlink", monitor: NetlinkMonitor())],
        settings: CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: [rule]))
    )
    say("configured \(NetworkMonitor.configureShared(coordinator: coordinator))")
    for (name, monitor) in [("shared", NetworkMonitor.shared), ("another", NetworkMonitor())] {
        say("\(name) \(monitor.connectionType) \(monitor.isExpensive ? "expensive" : "not expensive")")
    }
    say("host \((try? HostReachability(host: "192.0.2.1").reach().name) ?? "wrong")")
    say("configured again \(NetworkMonitor.configureShared(coordinator: coordinator))")
}

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "watch": watch()
case "snapshot": readAtOnce()
case "cycles": cycle(Int(arguments.dropFirst(2).first ?? "") ?? 10_000)
case "indicator": indicate()
case "configured": configure()
case "view": TerminalStatusView().run()
default:
    FileHandle.standardError.write(Data("ConnectivityScenarios: there is no such scenario\n".utf8))
    exit(64)
}
