// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// A backend of one's own, registered by name: this is all of netpath under a name of one's own, and its configuration
// knows one type more.
//
//     backends:
//       - type: flagFile
//         path: /run/uplink-is-up
//         interface: wwan0
//         interval: 500ms

import Glibc
import NetPath
import NetPathCLI
import NetPathPluginKit

/// States that there is a path while a file exists, which some other program creates and removes.
struct FlagFileMonitor: PathMonitor {
    let path: String
    let interface: String?
    let interval: Duration

    func run(_ context: MonitorContext) async throws {
        try await context.poll(every: self.interval, watching: [self.path]) {
            try self.observe(at: context.clock.now())
        }
    }

    /// A file holds the answer and none of the facts, so this is a conclusion.
    ///
    /// netpath takes it as it is, and shows it as the word of this backend. Of families, costs and the internet it says
    /// nothing, which never means "no".
    private func observe(at time: MonotonicTime) throws -> Evidence {
        let isThere = unsafe access(self.path, F_OK) == 0
        // Only a missing file means no: a process that may not look does not know.
        guard isThere || errno == ENOENT else { throw SourceUnavailable("cannot look for \(self.path)") }
        var conclusion = Conclusion(
            isThere ? .satisfied : .unsatisfied,
            PathReason(.stated, isThere ? "\(self.path) is there" : "\(self.path) is missing")
        )
        conclusion.interface = self.interface
        var evidence = Evidence(at: time)
        evidence.conclusion = conclusion
        return evidence
    }
}

NetPathTool.main(name: "uplink") { registry in
    registry.register("flagFile", summary: "a file that says whether there is a path") { section in
        // Wrong values and unknown keys are reported with their line and column, as for the built-in backends.
        section.require("path")
        return FlagFileMonitor(
            path: section.string("path", default: ""),
            interface: section.string("interface"),
            interval: section.duration("interval", default: .seconds(1), in: .milliseconds(100) ... .seconds(3_600))
        )
    }
}
