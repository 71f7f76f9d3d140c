// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The library from the bottom up: Examples coordinator backend, code, or file [PATH].

import Foundation

@MainActor
func coordinatorExample(_ arguments: [String]) -> Never {
    switch arguments.first {
    case "backend":
        Task {
            do { try await runOneBackend() } catch { fatalError("\(error)") }
        }
    case "code": Task { await runCoordinator() }
    case "file": runConfigured(arguments.dropFirst().first)
    default:
        print("usage: Examples coordinator backend | code | file [PATH]")
        exit(64)
    }
    dispatchMain()
}
