// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Where the service keeps its socket and its recording.
struct ServiceFolders: Hashable, Sendable {
    /// Gone with the next boot: the socket and the lock.
    var runtime: String
    /// What stays.
    var state: String

    /// The socket that the service answers on.
    var socket: String { self.runtime + "/netpath.sock" }
    /// What is locked as long as a service runs.
    var lock: String { self.runtime + "/netpath.lock" }
    /// The flight recorder's files.
    var recording: String { self.state }

    /// Those of the service of the system.
    static let system = ServiceFolders(runtime: "/run/netpath", state: "/var/lib/netpath")

    /// Those of a user (XDG Base Directory Specification); nil where the environment does not name them.
    static func user(_ environment: [String: String]) -> ServiceFolders? {
        // What is empty or relative counts as not set.
        let absolute = { (path: String?) in path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let runtime = absolute(environment["XDG_RUNTIME_DIR"]),
            let state = absolute(environment["XDG_STATE_HOME"])
                ?? absolute(environment["HOME"]).map({ $0 + "/.local/state" })
        else { return nil }
        return ServiceFolders(runtime: runtime + "/netpath", state: state + "/netpath")
    }

    /// Those that a service uses which is started now: what systemd gives it (RuntimeDirectory=, StateDirectory=), those
    /// of the system when it is root, else those of the user.
    static func own(_ environment: [String: String], isRoot: Bool) -> ServiceFolders? {
        self.given(environment) ?? (isRoot ? .system : self.user(environment))
    }

    /// What systemd gives a unit; nil without both.
    private static func given(_ environment: [String: String]) -> ServiceFolders? {
        // Of several, systemd names the first one first.
        let first = { (name: String) in environment[name]?.split(separator: ":").first.map(String.init) }
        guard let runtime = first("RUNTIME_DIRECTORY"), let state = first("STATE_DIRECTORY") else { return nil }
        return ServiceFolders(runtime: runtime, state: state)
    }

    /// Where a program looks that asks a service: the folders that a service started here would use, then the system's,
    /// then the user's.
    static func places(of environment: [String: String]) -> [ServiceFolders] {
        var places: [ServiceFolders] = []
        for place in [self.given(environment), self.system, self.user(environment)] {
            if let place, !places.contains(place) { places.append(place) }
        }
        return places
    }
}
