// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LoadedConfiguration {
    /// The same configuration with every backend running all the time, to compare them; what is off stays off.
    package var comparing: LoadedConfiguration {
        var copy = self
        copy.backends = self.backends.map { backend in
            var backend = backend
            if backend.mode != .off { backend.mode = .active }
            return backend
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
        copy.backends = self.backends.map { backend in
            var backend = backend
            if backend.mode != .off, backend.monitor.reachesOut {
                copy.leftOut[backend.name] = backend.mode
                backend.mode = .off
            }
            return backend
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
        // FNV-1a: it tells configurations apart that are not made to look alike.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for value in self.effective.values {
            if sections.contains(String(value.path.prefix { $0 != "." && $0 != "[" })) { continue }
            for byte in "\(value.path)=\(value.text)\n".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
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
