// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

package import NetPath

extension CoordinatorSettings {
    /// Settings by which traffic through interfaces costs money, whatever they are: `.metered("wlan*")`.
    ///
    /// - Parameter names: Patterns of the names of interfaces; one that is none stops the program.
    /// - Returns: What a coordinator takes.
    package static func metered(_ names: String...) -> CoordinatorSettings {
        let rules = names.map { name in
            guard let pattern = GlobPattern(name) else { preconditionFailure("\(name) is not a pattern of names") }
            var rule = InterfaceRule(InterfaceRule.Match(name: pattern))
            rule.isExpensive = true
            return rule
        }
        return CoordinatorSettings(evaluation: EvaluationPolicy(interfaceRules: rules))
    }
}
