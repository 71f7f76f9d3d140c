// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

/// Runs the tests; SwiftPM writes a main program of its own where it finds none, for which it looks for tests of XCTest in the
/// index of the build. `swift test` runs nothing with this one.
@main
struct TestMain {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
