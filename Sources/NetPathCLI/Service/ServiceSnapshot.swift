// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// A snapshot on its way from the service to a command.
struct ServiceSnapshot: Codable {
    private var path: NetworkPath?
    private var backends: [BackendReport]
    private var monotonic: MonotonicTime
    private var wallNanoseconds: Int64
    private var via: [String]
    /// The hooks and their latest runs.
    let hooks: [HookReport]
    /// What the service runs with, and where (`LoadedConfiguration.serviceKey`); nil where it does not say.
    let key: String?
    /// What configuration is in force, and whether the one on disk was accepted; nil of a service that does not say it.
    var configuration: ConfigurationStanding?

    /// The indices of the interfaces that had a default route at some time; nil of a service that does not say it.
    var formerCarriers: [UInt32]?

    init(_ snapshot: StatusSnapshot, hooks: [HookReport], key: String? = nil) {
        self.hooks = hooks
        self.key = key
        self.path = snapshot.path
        self.backends = snapshot.backends
        self.monotonic = snapshot.takenAt.monotonic
        self.wallNanoseconds = snapshot.takenAt.wall.nanoseconds
        self.via = snapshot.via
    }

    /// The snapshot.
    var status: StatusSnapshot {
        StatusSnapshot(
            path: self.path,
            backends: self.backends,
            takenAt: ClockReading(monotonic: self.monotonic, wall: WallTime(nanoseconds: self.wallNanoseconds)),
            via: self.via
        )
    }

    /// Asks the service that runs, and says where it is when that is elsewhere.
    ///
    /// - Throws: ``ToolFailure`` when none does, or another version.
    static func ask(quiet: Bool = false) throws -> ServiceSnapshot {
        let answer = try ServiceClient.running().ask(.snapshot)
        do {
            let snapshot = try CodedLine.value(ServiceSnapshot.self, from: answer)
            if !quiet { ToolContext.current.noteNamespace(of: snapshot.via.first) }
            return snapshot
        } catch {
            throw ToolFailure(.failure, "the service is of another version of netpath: start it anew")
        }
    }
}

extension ToolContext {
    /// Says that a service is in another network namespace, where it is.
    ///
    /// - Parameter machine: What it calls itself (``Provenance/instance``).
    func noteNamespace(of machine: String?) {
        guard let machine, machine != Provenance.instance else { return }
        self.say("the service is in another network namespace than this command, and tells of the path there")
    }

    /// The same of an answer to ``ServiceRequest/status``.
    func noteNamespace(ofStatus answer: [UInt8]?) {
        guard let answer, case .array(let via)? = (try? JSONReader.read(answer[...]))?["via"],
            case .string(let machine)? = via.first
        else { return }
        self.noteNamespace(of: machine)
    }
}

extension ServiceClient {
    /// Connects to the service that runs.
    ///
    /// - Throws: ``ToolFailure`` when none does.
    static func running() throws -> ServiceClient {
        let places = ServiceFolders.places(of: ToolContext.current.environment)
        if let client = ServiceClient(places) { return client }
        let sockets = places.map(\.socket).joined(separator: " and ")
        throw ToolFailure(.unavailable, "no service answers at \(sockets): start one with 'netpath run'")
    }
}
