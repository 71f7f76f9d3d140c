// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathStandard
import Synchronization

/// The newest path as each kind of monitor sees it, made once for all monitors of that kind.
final class PathCache: Sendable {
    static let process = PathCache()

    private struct State: Sendable {
        var snapshot: PathSnapshot?
        var paths: [InterfaceFilter: NWPath] = [:]
    }

    private let state = Mutex(State())

    func path(of snapshot: PathSnapshot, filter: InterfaceFilter) -> NWPath {
        self.state.withLock { state in
            if state.snapshot !== snapshot {
                // Monitors hear of paths on several threads; who comes late with an old one must not spoil it.
                if let newer = state.snapshot, newer.number > snapshot.number {
                    return NWPath(PathDetails(snapshot.path, filter: filter))
                }
                state.snapshot = snapshot
                state.paths = [:]
            }
            if let path = state.paths[filter] { return path }
            let path = NWPath(PathDetails(snapshot.path, filter: filter))
            state.paths[filter] = path
            return path
        }
    }
}
