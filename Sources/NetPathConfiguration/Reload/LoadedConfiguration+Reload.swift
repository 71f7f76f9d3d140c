// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension LoadedConfiguration {
    /// The same configuration with every backend running all the time, to compare them; what is off stays off.
    public var comparing: LoadedConfiguration {
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
    public var answering: LoadedConfiguration {
        let readers = self.backends.contains { $0.mode != .off && !$0.monitor.reachesOut }
        guard readers, self.settings.probes != .required, self.settings.portals == .advisory else { return self }
        var copy = self
        copy.backends = self.backends.map { backend in
            var backend = backend
            if backend.monitor.reachesOut { backend.mode = .off }
            return backend
        }
        return copy
    }

    /// Whether any backend that is not off can tell of the internet (`PathMonitor.speaksOfInternet`).
    public var speaksOfInternet: Bool {
        self.backends.contains { $0.mode != .off && $0.monitor.speaksOfInternet }
    }

    /// The backends as a coordinator takes them.
    func makeBackends() -> [Backend] {
        self.backends.map { Backend($0.name, mode: $0.mode, monitor: $0.monitor) }
    }
}
