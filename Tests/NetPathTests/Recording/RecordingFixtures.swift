// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem
import NetPathTestKit

@testable import NetPath
@testable import NetPathRecording

/// A folder that goes with the test.
final class ScratchFolder {
    let path: String

    init() {
        var template = Array("/tmp/netpath-recording-XXXXXX".utf8CString)
        self.path = unsafe String(cString: mkdtemp(&template))
    }

    deinit {
        for name in FileAccess.names(in: self.path) {
            for inner in FileAccess.names(in: "\(self.path)/\(name)") { unsafe unlink("\(self.path)/\(name)/\(inner)") }
            if unsafe unlink("\(self.path)/\(name)") != 0 { unsafe rmdir("\(self.path)/\(name)") }
        }
        unsafe rmdir(self.path)
    }

    func file(_ name: String, _ bytes: [UInt8]) -> String {
        let path = "\(self.path)/\(name)"
        try? FileDescriptor(unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600))?.writeAll(bytes, or: "cannot write")
        return path
    }
}

/// A random life of a coordinator's state machine, as a journal would have it.
struct MachineWalk {
    private(set) var machine: CoordinatorStateMachine
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private(set) var published: [NetworkPath] = []
    private var generator: SeededGenerator
    private var generations: [Int: Int] = [:]
    private var latest: [Int: Evidence] = [:]

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...4, using: &generator)
        let modes = (0..<count).map {
            $0 == 0 ? BackendMode.active : BackendMode.allCases.randomElement(using: &generator) ?? .active
        }
        let settings = Self.settings(&generator)
        self.machine = CoordinatorStateMachine(
            backends: modes.enumerated().map { (name: "b\($0)", mode: $1) },
            settings: settings
        )
        self.generator = generator
    }

    private static func settings(_ generator: inout SeededGenerator) -> CoordinatorSettings {
        CoordinatorSettings(
            merge: MergePolicy.allCases.randomElement(using: &generator) ?? .priority,
            probes: Bool.random(using: &generator) ? .advisory : .required,
            portals: Bool.random(using: &generator) ? .advisory : .requiresConnection,
            damping: Damping(
                gain: .milliseconds(Int.random(in: 0...1, using: &generator) * 300),
                loss: .milliseconds(Int.random(in: 0...1, using: &generator) * 700)
            )
        )
    }

    var checkpoint: CoordinatorCheckpoint { CoordinatorCheckpoint(time: self.now, machine: self.machine) }

    /// Goes on by so many inputs.
    mutating func journal(of steps: Int) -> [CoordinatorJournal.Entry] {
        var journal = CoordinatorJournal {}
        for _ in 0..<steps {
            let input = self.machine.startedAt == nil ? .start(once: false) : self.input()
            journal.append(input, to: self.machine, at: self.now)
            let actions = self.machine.take(input, now: self.now)
            for action in actions {
                switch action {
                case .run(let id, let generation): self.generations[id] = generation
                case .publish(let path):
                    self.published.append(path.value)
                    journal.append(.published(path), at: self.now)
                case .cancel, .refresh, .warn: break
                }
            }
        }
        return journal.take().entries
    }

    private mutating func input() -> CoordinatorInput {
        // Often to the very moment at which the machine wants to be woken.
        let wait = Duration.milliseconds(Int.random(in: 0...400, using: &self.generator))
        self.now = self.now + wait
        if let due = self.machine.nextDeadline, Int.random(in: 0..<3, using: &self.generator) == 0 {
            self.now = max(self.now, due)
            return .wake
        }
        let ids = self.machine.members.map(\.id)
        let id = ids.randomElement(using: &self.generator) ?? 0
        let isOld = Int.random(in: 0..<20, using: &self.generator) == 0
        let generation = isOld ? 0 : self.generations[id] ?? 0
        switch Int.random(in: 0..<20, using: &self.generator) {
        case 0: return .refresh
        case 1: return .wake
        case 2:
            return .ended(
                backend: id,
                generation: generation,
                error: "broke",
                jitter: Double.random(in: 0..<1, using: &self.generator)
            )
        case 3: return .unavailable(backend: id, generation: generation, error: "nothing to see")
        case 4: return .held(backend: id, generation: generation)
        case 5: return .released(backend: id, generation: generation)
        case 6 where Bool.random(using: &self.generator):
            let names = self.machine.snapshots.map(\.report.name)
            return .apply(
                backends: names.map {
                    .init(name: $0, mode: BackendMode.allCases.randomElement(using: &self.generator) ?? .active)
                },
                settings: Self.settings(&self.generator),
                keeping: Set(names.filter { _ in Bool.random(using: &self.generator) })
            )
        default:
            return .report(backend: id, generation: generation, evidence: self.evidence(of: id))
        }
    }

    private mutating func evidence(of id: Int) -> Evidence {
        var evidence: Evidence
        switch Int.random(in: 0..<8, using: &self.generator) {
        case 0:
            let results: [ProbeOutcome.Result] = [.connected, .timedOut, .portal, .unreachable(errno: 101), .expected]
            let result = results.randomElement(using: &self.generator) ?? .connected
            evidence = .probing(
                ProbeOutcome(target: "203.0.113.7:443", result: result, roundTrip: .microseconds(1_234))
            )
        case 1: evidence = .stating(Conclusion(.satisfied, PathReason(.stated, "it says so")))
        case 2, 3: evidence = self.latest[id] ?? EvidenceGenerator.evidence(using: &self.generator)
        default: evidence = EvidenceGenerator.evidence(using: &self.generator)
        }
        evidence.observedAt = self.now + .milliseconds(-Int.random(in: 0..<50, using: &self.generator))
        evidence.resynchronizations = Int.random(in: 0..<3, using: &self.generator)
        self.latest[id] = evidence
        return evidence
    }
}
