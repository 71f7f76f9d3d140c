// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension TCPProbeMonitor.Options {
    /// What tells the results of these options from those of others.
    var question: ProbeLedger.Question {
        ProbeLedger.Question(targets: self.targets, interface: self.interface, mark: self.mark)
    }

    /// The time between rounds while a target answers.
    func usualPause(isMetered: Bool) -> Duration {
        isMetered ? self.meteredInterval ?? self.interval * 10 : self.interval
    }

    /// The longest time between rounds while nothing comes back, unless ``usualPause(isMetered:)`` is longer.
    var longestBackoff: Duration { self.backoff ?? Self.usualBackoff(timeout: self.timeout) }

    /// The longest time between rounds while nothing comes back, where the configuration does not say.
    ///
    /// At most 60 SYN an hour to each target, those of the first rounds among them.
    static func usualBackoff(timeout: Duration) -> Duration {
        .seconds(120) * Self.transmissions.count { $0 < timeout }
    }

    /// When Linux sends a SYN again that is not answered: every second at first (tcp_syn_linear_timeouts of `ip-sysctl`,
    /// Linux 6.5), then after twice the time.
    private static let transmissions: [Duration] = [0, 1, 2, 3, 4, 5, 7, 11, 19, 35].map { .seconds($0) }

    /// The attempts of a round whose first target answers: a connection, after a lookup where there are only names.
    var attemptsToAnswer: Int { self.targets.allSatisfy { $0.name != nil } ? 2 : 1 }

    /// The attempts of a round that no host answers: a lookup of each name, a connection to each address, and to a name
    /// one of each family.
    var attemptsOfWholeRound: Int {
        let names = self.targets.compactMap(\.lookup)
        return Set(names).count + self.targets.count + names.count
    }

    /// The least budget with which rounds can be made as often as wanted, and with which an outcome counts until the
    /// next one is there even while no endpoint answers.
    var leastPerMinute: Int {
        let rounds = Int((60 * Double(self.attemptsToAnswer) / (self.interval / .seconds(1))).rounded(.up))
        let failures = Int((60 * Double(self.attemptsOfWholeRound) / (self.validFor / .seconds(1))).rounded(.up))
        return max(2, rounds, failures, self.attemptsOfWholeRound)
    }

    /// Says so where legal options leave too few attempts to know of the internet, and what to write instead.
    func warnOfSmallBudget(in section: ConfigurationSection) {
        let (limit, least, whole) = (self.maxPerMinute, self.leastPerMinute, self.attemptsOfWholeRound)
        guard !self.targets.isEmpty, limit < least else { return }
        // The value that was written is what can be pointed at.
        let culprit = ["maxPerMinute", "interval"].first(where: section.contains) ?? "targets"
        let fault: String
        var remedy = "write maxPerMinute: \(least) or more"
        if limit < whole {
            fault = "less than the \(whole) attempts (lookups and connections) of a round without any answer"
        } else {
            fault =
                "too small for rounds every \(DurationText.format(self.interval)) "
                + "whose outcomes count for \(DurationText.format(self.validFor))"
            // Without a value of its own, validFor is three times the interval.
            let seconds = max(60 * self.attemptsToAnswer, section.contains("validFor") ? 0 : 20 * whole)
            let interval = Duration.seconds((Double(seconds) / Double(limit)).rounded(.up))
            if interval > self.interval { remedy += ", or interval: \(DurationText.format(interval)) or more" }
        }
        section.warn(
            culprit,
            "\(culprit == "maxPerMinute" ? "is" : "makes maxPerMinute (\(limit))") \(fault), "
                + "so that 'internet' is late or unknown; \(remedy)"
        )
    }
}
