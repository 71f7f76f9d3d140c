// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
import Reachability

extension HostTarget {
    /// Reads a host as it is typed: a name, an address or a URL.
    init(typed text: String) throws(ValidationError) {
        do throws(HostReachabilityError) {
            self = text.contains("://") ? try HostTarget(url: text) : try HostTarget(text)
        } catch {
            throw ValidationError(error.description.safe)
        }
    }

    /// Whether it has to be looked up.
    var isName: Bool { if case .name = self.host { true } else { false } }

    /// The host with a port, as the TCP probe takes them.
    func probed(at port: UInt16) -> String {
        self.text.contains(":") ? "[\(self.text)]:\(port)" : "\(self.text):\(port)"
    }
}
