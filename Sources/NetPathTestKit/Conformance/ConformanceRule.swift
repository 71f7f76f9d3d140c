// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What every backend promises (`PathMonitor`), one promise a case.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConformanceRule: String, CaseIterable, Hashable, Sendable {
    /// It reports in full promptly.
    case firstReport
    /// Every report stands for itself, and its parts fit together.
    case completeSnapshots
    /// What cannot be known is left out, and never means "no".
    case unknownIsNotNo
    /// Every interface that it names is one of this machine's.
    case realInterfaces
    /// Every refresh request is answered with a new reading, unless the backend says that it takes none.
    case refresh
    /// It takes the hosts that clients watch, and goes on.
    case watchedAddresses
    /// It reports in full where it is asked once, and ends or goes on.
    case asksOnce
    /// While nothing happens it runs on, says the same, and little.
    case rest
    /// Cancellation ends it, whatever it does at that moment.
    case cancellation
    /// A program ends by itself when it is asked to.
    case shutdown
    /// Nothing is reported once it has ended.
    case silence
    /// It can be run again.
    case restart
    /// Without its source it throws, or says that it does not know; it neither hangs nor says "no".
    case missingSource
    /// What a program holds does not grow from look to look.
    case holdings
    /// Descriptors, threads, processes and memory do not grow from run to run; a program leaves no files either.
    case leaks

    /// The rules that only programs of their own can keep (`netpath plugin check`); others have no line about them.
    package static let ofPrograms: Set<ConformanceRule> = [.shutdown, .holdings]

    /// The rule for a person, as the title of a line: its name in words.
    public var title: String {
        self.rawValue.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
    }
}

/// What became of one rule.
public struct ConformanceFinding: Hashable, Sendable {
    /// How it went, with a sentence for people.
    public enum Outcome: Hashable, Sendable {
        /// The backend keeps the rule; what was measured.
        case kept(String)
        /// The backend breaks the rule; what it did, and what it has to do instead.
        case broken(String)
        /// It is not known; why.
        case unchecked(String)
    }

    /// The rule.
    public let rule: ConformanceRule
    /// How it went.
    public let outcome: Outcome

    /// What is wrong; nil unless the rule is broken.
    public var failure: String? {
        if case .broken(let text) = self.outcome { "\(self.rule.title): \(text)" } else { nil }
    }
}

/// What ``BackendConformance`` found out, rule by rule; its description is a table and a verdict for people.
public struct ConformanceReport: Hashable, Sendable, CustomStringConvertible {
    /// The backend's name.
    public let name: String
    /// One for every rule that was asked for, in the order of the checks.
    public let findings: [ConformanceFinding]
    /// What the backend said to the operator meanwhile, as `warning: text`, each message once.
    public let messages: [String]

    /// A sentence for every broken rule.
    public var failures: [String] { self.findings.compactMap(\.failure) }

    /// Whether no rule is broken, and at least one was checked.
    public var isConforming: Bool {
        self.failures.isEmpty && self.findings.contains { if case .kept = $0.outcome { true } else { false } }
    }

    /// One line a rule, what the backend logged where something is wrong, and the verdict.
    public var description: String {
        let width = (self.findings.map(\.rule.title.count).max() ?? 0) + 2
        var lines = self.findings.map { finding in
            let title = finding.rule.title + String(repeating: " ", count: width - finding.rule.title.count)
            return switch finding.outcome {
            case .kept(let text): "ok         \(title)\(text)"
            case .broken(let text): "BROKEN     \(title)\(text)"
            case .unchecked(let text): "unchecked  \(title)\(text)"
            }
        }
        if !self.failures.isEmpty { lines += self.messages.map { "it logged   \($0)" } }
        return (lines + [self.verdict]).joined(separator: "\n")
    }

    private var verdict: String {
        if self.isConforming { return "\(self.name) conforms" }
        let count = self.failures.count
        guard count > 0 else { return "nothing could be checked of \(self.name)" }
        return
            "\(self.name) does not conform: \(count) of \(self.findings.count) rules \(count == 1 ? "is" : "are") broken"
    }
}
