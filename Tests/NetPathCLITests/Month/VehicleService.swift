// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathConfiguration
import NetPathSystem
import NetPathTestKit
import Synchronization
import Testing

@testable import NetPath
@testable import NetPathCLI
@testable import NetPathRecording

/// The clocks of a machine that a test turns.
final class VehicleClocks: Sendable {
    let monotonic: ManualClock
    private let state: Mutex<(wallOffset: Int64, slept: Int64)>

    /// The clocks of a machine that has just booted.
    init(bootedFor uptime: Duration, wall: Int64) {
        let now = MonotonicTime(nanoseconds: uptime.inNanoseconds)
        self.monotonic = ManualClock(at: now)
        self.state = Mutex((wall - now.nanoseconds, 0))
    }

    var now: RecorderClocks {
        let time = self.monotonic.now()
        return self.state.withLock { (time, time.nanoseconds + $0.wallOffset, $0.slept) }
    }

    func sleep(for nanoseconds: Int64) {
        self.state.withLock { $0 = ($0.wallOffset + nanoseconds, $0.slept + nanoseconds) }
    }
}

/// What `netpath run` is made of, with time as a parameter: coordinator, recorder, metrics, and what decides about a hook.
final class VehicleService {
    private static let lifeInterval: Duration = .seconds(90)
    static let holdTime: Duration = .seconds(2)

    /// What the recorder wants to be called for.
    private final class Desk: Sendable {
        let work = Mutex<[(due: MonotonicTime, run: @Sendable () -> Void)]>([])
    }

    let clocks: VehicleClocks
    let coordinator: PathCoordinator
    /// Nil when the program has ended.
    private(set) var recorder: Recorder?
    private let monitor = ScriptedMonitor()
    private let desk = Desk()
    private var hook: HookMachine
    private(set) var report: HookReport
    private var nextLife: MonotonicTime
    private var suspensions = 0

    init(in folder: String, boot: Int, clocks: VehicleClocks) async throws {
        self.clocks = clocks
        self.coordinator = PathCoordinator(
            backends: [Backend("netlink", monitor: self.monitor)],
            clock: clocks.monotonic
        )
        self.coordinator.keepTally()
        var hook = Hook(name: "told", command: ["/bin/true"])
        hook.holdTime = Self.holdTime
        self.hook = HookMachine(hook)
        self.report = HookReport(hook: hook)
        self.nextLife = clocks.now.time + Self.lifeInterval
        self.recorder = try Recorder(
            self.coordinator,
            to: RecordingStore(folder: folder),
            header: RecordingHeader(netpath: netPathVersion, boot: "boot-\(boot)"),
            isRequired: true,
            now: { clocks.now },
            log: { _, message in Issue.record("\(message)") },
            schedule: { [desk] delay, work in
                desk.work.withLock { $0.append((clocks.now.time + delay, work)) }
            }
        )
        self.coordinator.start()
        try await self.monitor.waitForRun()
    }

    /// Lets a network become what it is, as far as a backend sees it.
    func see(_ state: VehicleState) {
        var evidence = state.evidence
        evidence.observedAt = self.clocks.now.time
        evidence.suspensions = self.suspensions
        self.monitor.report(evidence)
        let path = self.coordinator.path
        let snapshot = StatusSnapshot(path: path, backends: path?.backends ?? [], takenAt: self.reading)
        self.perform(self.hook.show(snapshot, now: self.clocks.now.time))
    }

    /// Sleeps, and reads everything again.
    func sleep(for nanoseconds: Int64, seeing state: VehicleState) {
        self.clocks.sleep(for: nanoseconds)
        self.suspensions += 1
        self.see(state)
    }

    /// Lets time pass, in which everything is done when it is due.
    func advance(by duration: Duration) {
        let end = self.clocks.now.time + duration
        while true {
            let work = self.desk.work.withLock { $0.map(\.due).min() }
            let next = [work, self.nextLife, self.hook.nextDeadline].compactMap(\.self).min() ?? end
            guard next <= end else { break }
            self.clocks.monotonic.advance(to: next)
            let due = self.desk.work.withLock { work in
                defer { work.removeAll { $0.due <= next } }
                return work.filter { $0.due <= next }
            }
            for item in due { item.run() }
            if self.nextLife <= next { self.live() }
            self.perform(self.hook.wake(now: next))
        }
        self.clocks.monotonic.advance(to: end)
    }

    /// Says that it lives.
    func live() {
        self.recorder?.flush(isLife: true)
        self.nextLife = self.clocks.now.time + Self.lifeInterval
    }

    /// Ends as when it is asked to, or as when it is killed.
    func end(isKilled: Bool) {
        if !isKilled { self.recorder?.stop() }
        self.recorder = nil
        self.coordinator.stop()
    }

    /// The numbers that metrics tell under their names, with labels.
    func metrics() -> [Substring: Double] {
        let text = String(decoding: self.coordinator.metrics(isOpenMetrics: false), as: UTF8.self)
        let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
        return Dictionary(samples.map { ($0[0], Double($0[1]) ?? .nan) }) { $1 }
    }

    private var reading: ClockReading {
        let now = self.clocks.now
        return ClockReading(monotonic: now.time, wall: WallTime(nanoseconds: now.wallNanoseconds))
    }

    /// A command that takes no time, and does well.
    private func perform(_ actions: [HookMachine.Action]) {
        for case .run(let input) in actions {
            self.report.record(
                HookRun(
                    startedAt: self.reading.wall,
                    status: input.snapshot.path?.status,
                    reason: input.snapshot.path?.reason,
                    previousStatus: input.previous?.path?.status,
                    isInitial: input.isInitial,
                    attempt: input.attempt,
                    duration: .zero,
                    outcome: .ended(.exited(0)),
                    droppedBytes: 0
                )
            )
            self.perform(self.hook.ended(well: true, now: self.clocks.now.time))
        }
    }
}
