// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

extension NetworkNamespace {
    /// Why no namespace can be made on this machine, or nil when one can; tried once.
    public static let unavailableReason: String? = {
        do {
            try NetworkNamespace().close()
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// Whether a namespace can be made on this machine; tried once.
    public static var isAvailable: Bool { unavailableReason == nil }

    /// Whether tests that need a namespace shall run: one can be made, or this is a CI machine.
    ///
    /// On a developer's machine without namespaces the tests are skipped, with the reason. Where `CI` or `NETPATH_CI`
    /// is set they run and fail: a silent skip there would mean that nothing was tested.
    ///
    /// ```swift
    /// @Suite(.enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")"))
    /// ```
    public static var isAvailableOrRequired: Bool { isRequired || isAvailable }

    /// Whether what cannot run here must fail rather than skip: this is a CI machine.
    package static var isRequired: Bool {
        let environment = ProcessInfo.processInfo.environment
        return ["CI", "NETPATH_CI"].contains { name in
            environment[name].map { !["", "0", "false"].contains($0) } ?? false
        }
    }
}
