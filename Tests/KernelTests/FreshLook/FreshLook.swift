// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// What a program says that starts now, beside a monitor that has watched what happened.
struct FreshLook: Sendable {
    /// How both compare.
    enum Comparison: Equatable, Sendable {
        case same
        /// They differ, as the monitor's memory allows.
        case remembered
        case differs(String)
    }

    /// How long they may differ: the kernel settles some things in its own time.
    private static let patience: Duration = .seconds(2)

    private let lab: NetworkNamespace
    private let command: String

    /// - Parameters:
    ///   - lab: The namespace in which the monitor runs.
    ///   - program: The program under test.
    ///   - configuration: The path of the monitor's configuration.
    ///   - words: The words before the program.
    init(in lab: NetworkNamespace, of program: String, configuration: String, after words: [String] = []) {
        self.lab = lab
        let words = words + [program, "status", "--json", "--config", configuration]
        self.command = words.map(shellQuoted).joined(separator: " ")
    }

    /// What it says.
    ///
    /// - Throws: An error when the program says nothing.
    func take() throws -> JSONValue { try JSONValue(json: self.lab.run("\(self.command) || true")) }

    /// Compares both, until they agree or patience ends.
    ///
    /// - Parameters:
    ///   - line: What the monitor says.
    ///   - memory: What it may know besides.
    ///   - settled: Asks it once more, when it has seen everything until now.
    /// - Returns: How they compare.
    /// - Throws: What `settled` throws, or an error when the program says nothing.
    func compare(
        with line: JSONLine,
        remembering memory: MonitorMemory? = nil,
        settled: () throws -> JSONLine
    ) throws -> Comparison {
        let end = ContinuousClock.now + Self.patience
        var watched = SaidPath(line.value)
        var looks = 0
        while true {
            let fresh = SaidPath(try self.take())
            looks += 1
            guard let difference = fresh.difference(from: watched) else { return .same }
            if let memory, memory.allows(fresh, beside: watched) { return .remembered }
            // On a busy machine one look may take all of the time.
            if looks >= 3, ContinuousClock.now >= end {
                return .differs("a program that starts now says \(difference)")
            }
            watched = SaidPath(try settled().value)
        }
    }
}
