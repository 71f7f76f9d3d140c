// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension AssessedEvidence {
    /// What is known of gateways, one fact each.
    var gatewayFacts: [String] {
        self.evidence.gateways.compactMap { gateway in
            var words: [String] = []
            switch (gateway.answers, gateway.failedBefore) {
            case (true?, _): words.append("answers")
            case (false?, _): words.append("does not answer, so that the kernel drops packets through it")
            case (nil, true?): words.append("did not answer when it was last asked; the next packet asks it again")
            case (nil, _): break
            }
            switch gateway.place {
            case .reachable: words.append("behind a port of the bridge that forwards")
            case .lost(let port): words.append("behind \(port), a port of the bridge that does not forward")
            case .unknown: words.append("the bridge does not know behind which port")
            case nil: break
            }
            guard !words.isEmpty else { return nil }
            return
                "Gateway \(gateway.address) on \(self.name(gateway.interfaceIndex)): \(words.joined(separator: ", "))"
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
