// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

extension HookInput {
    /// What the command finds in its environment of the state; each name is always there, empty where it says nothing.
    ///
    /// The names of interfaces and networks, and what backends say, come from others: no value has a control character
    /// or is longer than 1,024 characters, and that is all there is to them.
    func variables(of hook: Hook) -> [String: String] {
        let (path, previous) = (self.snapshot.path, self.previous)
        let values: [String: String?] = [
            "HOOK": hook.name,
            "INITIAL": self.isInitial ? "1" : nil,
            "ATTEMPT": "\(self.attempt)",
            "STATUS": path?.status.rawValue,
            "PREVIOUS_STATUS": previous?.path?.status.rawValue,
            "REASON": path?.reason.code.rawValue,
            "MESSAGE": path?.reason.message,
            "STALE": path?.isStale == true ? "1" : nil,
            "INTERFACE": self.snapshot.carrier?.name,
            "INTERFACE_TYPE": self.snapshot.carrier?.type.rawValue,
            "PREVIOUS_INTERFACE": previous?.carrier?.name,
            "INTERNET": path?.internet.rawValue,
            "EXPENSIVE": path?.isExpensive == true ? "1" : nil,
            "CONSTRAINED": path?.isConstrained == true ? "1" : nil,
        ]
        return Dictionary(uniqueKeysWithValues: values.map { ("NETPATH_\($0)", $1?.safe ?? "") })
    }
}
