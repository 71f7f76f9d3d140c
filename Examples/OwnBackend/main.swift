// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A backend of one's own, registered by name: this is all of netpath, and its configuration knows one type more.
//
//     backends:
//       - type: flagFile
//         path: /run/uplink-is-up
//         interval: 500ms

import Glibc
import NetPath
import NetPathCLI

/// Says that there is a path while a file exists, which some other program creates and removes.
struct FlagFileMonitor: PathMonitor {
    let path: String
    let interval: Duration

    func run(_ context: MonitorContext) async throws {
        context.report(self.observe(at: context.clock.now()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Every request is answered, also when nothing changed: silence means that a backend is broken.
            group.addTask {
                for await _ in context.refreshRequests { context.report(self.observe(at: context.clock.now())) }
            }
            group.addTask {
                while true {
                    try await context.clock.sleep(until: context.clock.now() + self.interval)
                    context.report(self.observe(at: context.clock.now()))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Evidence, never a verdict: `evaluate` makes the same of it as of every other backend's.
    private func observe(at time: MonotonicTime) -> Observation {
        let isThere = unsafe access(self.path, F_OK) == 0
        var observation = Observation(at: time)
        observation.probes = ProbeRound(
            outcomes: [ProbeOutcome(target: self.path, result: isThere ? .connected : .timedOut)],
            isComplete: true
        )
        return observation
    }
}

NetPathTool.main { registry in
    registry.register("flagFile", summary: "a file that says whether there is a path") { section in
        // Wrong values and unknown keys are reported with their line and column, as for the built-in backends.
        section.require("path")
        return FlagFileMonitor(
            path: section.string("path", default: ""),
            interval: section.duration("interval", default: .seconds(1), in: .milliseconds(100) ... .seconds(3_600))
        )
    }
}
