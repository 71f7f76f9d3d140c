// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension CoordinatorSettings {
    /// Reads what a configuration says of the path as a whole; what is wrong is recorded in the section.
    static func read(from root: ConfigurationSection) -> CoordinatorSettings {
        let merge = root.nested("merge")
        let evaluation = EvaluationPolicy(
            configurationGrace: root.duration(
                "grace",
                default: EvaluationPolicy().configurationGrace,
                in: .zero ... .seconds(3_600)
            ),
            interfaceRules: InterfaceRule.read(from: root),
            gateways: merge.choice("gateways", default: GatewayInfluence.advisory)
        )
        return CoordinatorSettings(
            evaluation: evaluation,
            merge: merge.choice("policy", default: MergePolicy.priority),
            probes: merge.choice("probes", default: ProbeInfluence.advisory),
            portals: merge.choice("portals", default: PortalInfluence.advisory),
            damping: Damping.read(from: root.nested("damping"))
        )
    }
}

extension Damping {
    private static let limit: ClosedRange<Duration> = .zero ... .seconds(3_600)

    fileprivate static func read(from section: ConfigurationSection) -> Damping {
        let standard = Damping()
        let damping = Damping(
            gain: section.duration("gain", default: standard.gain, in: self.limit),
            loss: section.duration("loss", default: standard.loss, in: self.limit),
            maxWait: section.duration("maxWait", default: standard.maxWait, in: self.limit)
        )
        let longest = max(damping.gain, damping.loss)
        if damping.maxWait < longest {
            // The value that was written, not the one that was meant, is what can be pointed at.
            let culprit = section.contains("maxWait") ? "maxWait" : damping.gain == longest ? "gain" : "loss"
            section.reject(
                culprit,
                culprit == "maxWait"
                    ? "must be \(DurationText.format(longest)) or more, as long as gain and loss"
                    : "must not be longer than maxWait, which is \(DurationText.format(damping.maxWait)) unless it is set"
            )
        }
        return damping
    }
}
