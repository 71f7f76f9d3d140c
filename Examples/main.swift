// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Ways to use the libraries, small enough to read, and run by the tests: Examples FOLDER ARGUMENTS. Applications has
// whole programs, which are a package of their own.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "coordinator": coordinatorExample(arguments)
case "connectivity": connectivityExample(arguments)
case "request":
    Task {
        await requestExample(arguments)
        exit(0)
    }
    dispatchMain()
case "offline-demo":
    Task {
        await offlineDemo(arguments)
        exit(0)
    }
    dispatchMain()
default:
    print("usage: Examples coordinator | connectivity | request | offline-demo ARGUMENTS")
    exit(64)
}
