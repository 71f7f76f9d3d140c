// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath

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

    /// The backends as a coordinator takes them.
    public func makeBackends() -> [Backend] {
        self.backends.map { Backend($0.name, mode: $0.mode, monitor: $0.monitor) }
    }
}
