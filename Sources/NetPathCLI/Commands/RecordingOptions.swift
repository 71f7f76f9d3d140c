// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPathConfiguration
import NetPathRecording
import NetPathSystem

/// Where a recording is.
struct RecordingOptions: ParsableArguments {
    @Option(
        name: .customLong("recording"),
        help: ArgumentHelp(
            "Read this recording: a folder, or a file that 'watch --record' wrote.",
            discussion: "Otherwise that of the service: /var/lib/netpath, or $XDG_STATE_HOME/netpath.",
            valueName: "path"
        ),
        completion: .file()
    )
    var path: String?

    /// Whether it is that of the service, which may be writing it.
    var isLive: Bool { self.path == nil }

    /// Whether a service runs that writes it, also where it is named.
    var isBeingWritten: Bool {
        ServiceClient(self.places.filter { self.path == nil || self.path == $0.recording }) != nil
    }

    /// Says that the service that writes it is in another network namespace, where it is.
    func noteNamespace() {
        guard self.isLive else { return }
        ToolContext.current.noteNamespace(ofStatus: ServiceFollower.ask(.status, of: self.places))
    }

    private var places: [ServiceFolders] { ServiceFolders.places(of: ToolContext.current.environment) }

    /// Opens the recording, for which a configuration may name the folder.
    ///
    /// - Throws: `SystemError` when it cannot be read, or ``ToolFailure`` when there is none.
    func open(_ configured: String?) throws -> Recording {
        if let path { return try Self.recording(at: path) }
        let folders = configured.map { [$0] } ?? self.places.map(\.recording)
        // What a service left behind, and what systemd made for another program, hides no recording of one that runs.
        let running = configured == nil ? self.places.first { ServiceClient([$0]) != nil }?.recording : nil
        let recorded = running ?? folders.first { RecordingFiles.exist(in: $0) }
        // An empty folder may belong to a service that has just begun; one that cannot be listed may hold a recording.
        let made = folders.first {
            FileAccess.exists($0) && (self.isBeingWritten || FileAccess.unsortedNames(in: $0) == nil)
        }
        guard let folder = recorded ?? made, FileAccess.exists(folder) else {
            throw ToolFailure(
                .unavailable,
                """
                there is no recording: looked for \(folders.joined(separator: ", ")). 'netpath run' makes one; \
                --recording names another
                """
            )
        }
        return try Recording(folder)
    }

    /// Opens what has to be a recording: one of the service may have just begun, but this one was named.
    private static func recording(at path: String) throws -> Recording {
        let recording = try Recording(path)
        var isEmpty = true
        try recording.read(.paths) { _ in
            isEmpty = false
            return false
        }
        guard !isEmpty else { throw ToolFailure(.unavailable, RecordingError.empty(path.safe).description) }
        return recording
    }

    /// Reads what the recording tells of paths: from its files, or from the service where these are not for everybody.
    ///
    /// - Throws: What ``open(_:)`` does.
    func readPaths(_ configured: String?, since begin: WallTime, _ body: (RecordedEvent) -> Void) throws {
        do {
            let recording = try self.open(configured)
            if recording.newerFiles > 0 {
                let files =
                    recording.newerFiles == 1
                    ? "1 file of the recording is left out: a newer netpath wrote it"
                    : "\(recording.newerFiles) files of the recording are left out: a newer netpath wrote them"
                ToolContext.current.say(files)
            }
            let damaged = try recording.read(.paths, since: begin.nanoseconds) { event in
                body(event)
                return true
            }
            guard damaged > 0 else { return }
            ToolContext.current.say(
                damaged == 1
                    ? "1 line of the recording cannot be read and is left out"
                    : "\(damaged) lines of the recording cannot be read and are left out"
            )
        } catch {
            guard self.isLive, let service = ServiceClient(self.places) else { throw error }
            try Recording.read(service.ask(.history(since: begin.nanoseconds / 1_000_000_000)), body)
        }
    }
}

extension GlobalOptions {
    /// The folder that the configuration has the service record in; nil when it names none.
    ///
    /// Errors in a configuration that the command line does not name are ignored: the history can be read all the same.
    ///
    /// - Throws: `ConfigurationError`.
    func recordingFolder() throws -> String? {
        do { return try self.configuration().record.folder } catch {
            guard self.configurationPath == nil, self.settings.overrides.isEmpty else { throw error }
            return nil
        }
    }
}
