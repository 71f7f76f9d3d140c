// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathRecording
import NetPathSystem

/// A snapshot on its way from the service to a command.
struct ServiceSnapshot: Codable {
    /// The snapshot.
    let status: StatusSnapshot
    /// The hooks and their latest runs.
    let hooks: [HookReport]
    /// What the service runs with, and where (`LoadedConfiguration.serviceKey`); nil where it does not say.
    let key: String?
    /// What configuration is in force, and whether the one on disk was accepted.
    let configuration: ConfigurationStanding
    /// The indices of the interfaces that had a default route at some time.
    let formerCarriers: [UInt32]

    /// Asks the service that runs, and says where it is when that is elsewhere.
    ///
    /// - Throws: ``ToolFailure`` when none does, or another version.
    static func ask(quiet: Bool = false) throws -> ServiceSnapshot {
        let places = ServiceFolders.places(of: ToolContext.current.environment)
        guard let service = ServiceClient(places) else {
            let sockets = places.map(\.socket).joined(separator: " and ")
            throw ToolFailure(.unavailable, "no service answers at \(sockets): start one with 'netpath run'")
        }
        let answer = try service.ask(.snapshot)
        do {
            let snapshot = try CodedLine.value(ServiceSnapshot.self, from: answer)
            if !quiet { ToolContext.current.noteNamespace(of: snapshot.status.via.first) }
            return snapshot
        } catch {
            throw ToolFailure(.failure, "the service is of another version of netpath: restart it")
        }
    }
}

extension ToolContext {
    /// Says that a service is in another network namespace, where it is.
    ///
    /// - Parameter machine: What it calls itself (``Provenance/instance``).
    func noteNamespace(of machine: String?) {
        guard let machine, machine != Provenance.instance else { return }
        self.say("the service is in another network namespace than this command, and reports the path there")
    }

    /// The same of an answer to ``ServiceRequest/status``.
    func noteNamespace(ofStatus answer: [UInt8]?) {
        guard let answer, let document = try? JSONReader.read(answer[...]) else { return }
        self.noteNamespace(of: document["via"]?.texts.first)
    }
}
