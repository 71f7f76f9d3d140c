// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath
import NetPathSystem

/// A line that a plugin wrote, and what was made of it: for its author.
package struct PluginLine: Hashable, Sendable {
    /// What a line was taken for.
    package enum Reading: Hashable, Sendable {
        /// The first line.
        case hello(PluginHello)
        /// Facts, or a conclusion.
        case report(Evidence)
        /// Numbers.
        case metrics([BackendMetric])
        /// There is nothing to go by.
        case unavailable(String)
        /// A sign of life.
        case heartbeat
        /// A message to the operator.
        case log(LogLevel, String)
        /// A breach of the protocol, to be read after the line's number.
        case fault(String)
    }

    /// Its number, from 1.
    package var number: Int
    /// Its text, without what would upset a terminal.
    package var text: String
    /// What it was taken for.
    package var reading: Reading
    /// The interfaces that the last facts named and that this machine does not have: they were left out.
    package var missing: [String]
}

extension PluginMachine {
    /// Shows an observer the line that was just taken.
    func shown(_ line: LineBuffer.Line, _ reading: PluginLine.Reading) -> Action {
        let text = String(decoding: line.bytes.prefix(2_000), as: UTF8.self).printable(limit: 2_000)
        return .show(PluginLine(number: self.lineNumber, text: text, reading: reading, missing: self.missing))
    }

    /// What a line was taken for that said something of the network, or led to actions.
    func reading(_ said: Action?, _ actions: ArraySlice<Action>) -> PluginLine.Reading {
        switch said {
        case .report(let evidence, _)?: return .report(evidence)
        case .unavailable(let sentence)?: return .unavailable(sentence)
        default: break
        }
        if self.lineNumber == 1, let hello = self.hello { return .hello(hello) }
        for case .metrics(let metrics) in actions { return .metrics(metrics) }
        for case .log(let level, let text) in actions { return .log(level, text) }
        return .heartbeat
    }
}
