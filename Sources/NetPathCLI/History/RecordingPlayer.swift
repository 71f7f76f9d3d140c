// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathRecording

/// Turns what was recorded into paths, and compares them with those that were published.
struct RecordingPlayer {
    private let overrides: [String]
    private let registry: BackendRegistry
    private var settings: CoordinatorSettings?
    private var replay: CoordinatorReplay?
    /// What was replayed, and has not been compared yet.
    private var expected: [RecordedPath] = []
    /// How many paths were not the recorded ones.
    private(set) var differences = 0
    /// Whether there was anything to replay.
    private(set) var hasBegun = false

    init(overrides: [String], registry: BackendRegistry) {
        self.overrides = overrides
        self.registry = registry
    }

    /// Takes the next event.
    ///
    /// - Returns: The paths that are published by it.
    /// - Throws: `ConfigurationError` when the configuration cannot be changed as asked.
    mutating func take(_ event: RecordedEvent) throws -> [NetworkPath] {
        switch event.kind {
        case .header(let header):
            if !self.overrides.isEmpty { self.settings = try self.changedSettings(header.configuration) }
            return []
        case .checkpoint(let checkpoint, let continues):
            if continues, self.replay != nil { return [] }
            self.expected = []
            let replay = CoordinatorReplay(from: checkpoint, settings: self.settings)
            self.replay = replay
            self.hasBegun = true
            return [replay.path].compactMap { $0 }
        case .input(let input):
            let paths = self.replay?.take(input, at: event.time) ?? []
            self.expected += paths.map { RecordedPath($0) }
            return paths
        case .path(let path):
            guard self.settings == nil, self.replay != nil else { return [] }
            if self.expected.isEmpty || self.expected.removeFirst() != path { self.differences += 1 }
            return []
        case .gap:
            // The path that is told after it is that of the checkpoint which follows.
            self.replay = nil
            return []
        case .end, .clock: return []
        }
    }

    private func changedSettings(_ configuration: String?) throws -> CoordinatorSettings {
        let text = configuration ?? LoadedConfiguration.defaultText
        let source = ConfigurationSource(name: "the recorded configuration", text: text)
        return try LoadedConfiguration.parse(source, setting: self.overrides, registry: self.registry).settings
    }
}
