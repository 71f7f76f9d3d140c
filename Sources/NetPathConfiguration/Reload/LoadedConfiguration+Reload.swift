// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

extension LoadedConfiguration {
    /// The same configuration with every backend running all the time, to compare them; what is off stays off.
    package var comparing: LoadedConfiguration {
        var copy = self
        for (index, backend) in self.backends.enumerated() where backend.mode != .off {
            copy.backends[index].mode = .active
        }
        return copy
    }

    /// The same configuration for one answer: without the backends that send packets or start programs
    /// (`PathMonitor.reachesOut`), unless there are no others, or what probes say decides the status.
    package var answering: LoadedConfiguration {
        let whole = self.answeringWhole
        guard self.settings.probes != .required, self.settings.portals == .advisory else { return whole }
        return whole.reading ?? whole
    }

    /// The same configuration for one answer of all backends, which a service may give in their place.
    package var answeringWhole: LoadedConfiguration {
        var copy = self
        copy.isForOneAnswer = true
        return copy
    }

    /// The same configuration without the backends that send packets or start programs; nil where there are no others.
    package var reading: LoadedConfiguration? {
        guard self.backends.contains(where: { $0.mode != .off && !$0.monitor.reachesOut }) else { return nil }
        var copy = self
        for (index, backend) in self.backends.enumerated() where backend.mode != .off && backend.monitor.reachesOut {
            copy.leftOut[backend.name] = backend.mode
            copy.backends[index].mode = .off
        }
        return copy
    }

    /// Whether one answer is wanted, and a service would give a better or a cheaper one: backends that send packets or
    /// start programs would have to be asked for it.
    package var isWorthAService: Bool {
        self.isForOneAnswer
            && self.backends.contains { $0.monitor.reachesOut && (self.leftOut[$0.name] ?? $0.mode) == .active }
    }

    /// A number that is the same for configurations that lead to the same path: of every value that backends, verdicts and
    /// the merge depend on.
    package var fingerprint: UInt64 {
        self.hash(
            without: [
                "logging", "record", "serve", "hooks", "hooksFolder", "dispatcherFolder", ConfigurationVersion.key,
            ]
        )
    }

    /// A number that is the same for configurations whose every value is the same.
    package var hash: UInt64 { self.hash(without: []) }

    private func hash(without sections: Set<String>) -> UInt64 {
        let values = self.effective.values.filter { value in
            !sections.contains(String(value.path.prefix { $0 != "." && $0 != "[" }))
        }
        return values.map { "\($0.path)=\($0.text)\n" }.joined().hash64
    }

    /// Whether any backend that is not off can tell of the internet (`PathMonitor.speaksOfInternet`).
    package var speaksOfInternet: Bool {
        self.backends.contains { $0.mode != .off && $0.monitor.speaksOfInternet }
    }

    /// The backends as a coordinator takes them.
    func makeBackends() -> [Backend] {
        self.backends.map { Backend($0.name, mode: $0.mode, monitor: $0.monitor) }
    }
}
