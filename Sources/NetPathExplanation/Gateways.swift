// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension AssessedEvidence {
    /// What is known of gateways, one fact each.
    var gatewayFacts: [String] {
        self.evidence.gateways.compactMap { gateway in
            let finding: String? =
                switch (gateway.answers, gateway.failedBefore) {
                case (true?, _): "answers"
                case (false?, _): "does not answer, so that the kernel drops packets through it"
                case (nil, true?): "did not answer when it was last asked; the next packet has it asked anew"
                case (nil, _): nil
                }
            return finding.map { "Gateway \(gateway.address) on \(self.name(gateway.interfaceIndex)): \($0)" }
        }
    }

    func remedies(forSilentAmong gateways: [Gateway]) -> [String] {
        gateways.filter { $0.answers == false }.compactMap { gateway in
            let ports = self.byIndex[gateway.interfaceIndex]?.membersWithoutCarrier ?? []
            let cables = ports.isEmpty ? "" : ", and the cable of \(ports.joined(separator: " and "))"
            let words = ["address": "\(gateway.address)", "cables": cables]
            return RemedyTexts.text(.gatewaySilent, about: self.name(gateway.interfaceIndex), words)
        }
    }
}
