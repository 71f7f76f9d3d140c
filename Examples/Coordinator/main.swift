// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// The library from the bottom up: ExampleCoordinator backend, code, or file [PATH].

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "backend":
    Task {
        do { try await runOneBackend() } catch { fatalError("\(error)") }
    }
case "code": Task { await runCoordinator() }
case "file": runConfigured(CommandLine.arguments.dropFirst(2).first)
default:
    print("usage: ExampleCoordinator backend | code | file [PATH]")
    exit(64)
}
dispatchMain()
